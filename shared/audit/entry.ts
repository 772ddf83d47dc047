import { printable } from '#shared/base/printable.ts';
import type { AuditEvent } from './event-kinds.ts';

/**
 * The actor of an event. Events of the command line have the operator, and events that a server causes by itself have
 * the server.
 */
export type Who = { readonly person: string } | { readonly client: string } | 'operator' | 'server';

/** The interface through which it was done. */
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
  /** The client's address, which is stored only with `audit.addresses`. */
  readonly from?: string | undefined;
}

/** An event in the form of the log. */
export type Entry = AuditEvent & By & { /** ISO 8601. */ readonly time: string };

/** The most characters of a member, since values that clients choose may be long. */
const LONGEST = 512;

const bounded = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;

/** Returns the line of an event, in printable characters. */
export const textOf = (event: AuditEvent, by: By, now: number): string =>
  printable(JSON.stringify({ time: new Date(now).toISOString(), ...by, ...event }, bounded));

export const entryOf = (text: string): Entry => JSON.parse(text) as Entry;

/**
 * Returns the index keys of the entry: its kind, and each person and application in it, as actor or subject; also
 * each of these together with the kind.
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
  /** The key for a kind together with a person or a client; `actor`: the key of the person or client. */
  joint: (actor: string, kind: string) => `kind ${kind} ${actor}`,
} as const;
