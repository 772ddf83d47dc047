import { printable } from '#shared/base/printable.ts';
import type { AuditEvent } from './event-kinds.ts';

/** Somebody who does something: the command line is the operator's, and a server acts by itself, too. */
export type Who = { readonly person: string } | { readonly client: string } | 'operator' | 'server';

/** The door by which it was done. */
export type Door =
  | 'command line'
  | 'page'
  | 'http'
  | 'token endpoint'
  | 'gnap'
  | 'link'
  | 'start'
  | 'chore';

export interface By {
  readonly who: Who;
  readonly how: Door;
  /** The client's address, which is kept only with `audit.addresses`. */
  readonly from?: string | undefined;
}

/** An event as the log has it. */
export type Entry = AuditEvent & By & { /** ISO 8601. */ readonly time: string };

/** Characters of one member: what clients choose has no bound of its own. */
const LONGEST = 512;

const bounded = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;

/** Returns the line of an event, in printable characters. */
export const textOf = (event: AuditEvent, by: By, now: number): string =>
  printable(JSON.stringify({ time: new Date(now).toISOString(), ...by, ...event }, bounded));

export const entryOf = (text: string): Entry => JSON.parse(text) as Entry;

/**
 * Returns what finds the entry: its kind, and the people and applications in it, whether they did it or it is about them;
 * and each of them together with the kind.
 */
export function keysOf(entry: Entry): readonly string[] {
  const { kind, who } = entry;
  const acting = typeof who === 'object' ? who : {};
  const idsOf = (name: 'person' | 'client') =>
    [entry, acting]
      .map((one): unknown => Reflect.get(one, name))
      .filter((id) => typeof id === 'string');
  const actors = [...idsOf('person').map(keyOf.person), ...idsOf('client').map(keyOf.client)];
  return [
    ...new Set([keyOf.kind(kind), ...actors, ...actors.map((actor) => keyOf.joint(actor, kind))]),
  ];
}

export const keyOf = {
  kind: (kind: string) => `kind ${kind}`,
  person: (id: string) => `person ${id}`,
  client: (id: string) => `client ${id}`,
  /** The key of a kind together with a person or a client; `actor`: the key of that one. */
  joint: (actor: string, kind: string) => `kind ${kind} ${actor}`,
} as const;
