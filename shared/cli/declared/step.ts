import { isDeepStrictEqual } from 'node:util';
import type { House } from '#shared/operations/operation.ts';
import type { DeclaredThing } from '#shared/stores/declared/declared.ts';

/** The values of a member before and after a change. Undefined: the member is absent. */
export interface Difference {
  readonly old?: unknown;
  readonly new?: unknown;
}

/** One entry of the store that differs from the file. */
export interface Change {
  readonly kind: DeclaredThing['kind'];
  /** The name or id in the file. */
  readonly name: string;
  /** The application that owns the API key: people do not know keys by their id. */
  readonly owner?: string;
  readonly change: 'added' | 'changed' | 'removed' | 'disabled';
  readonly members: Readonly<Record<string, Difference>>;
}

/** The work that brings an entry of the store into the state that the file declares. */
export interface Step {
  /** Absent: the step changes nothing that users can see. */
  readonly change?: Change;
  /** The person who becomes, or is no longer, an administrator who can sign in. */
  readonly administrator?: { readonly id: string; readonly after: boolean };
  run(house: House): Promise<void>;
  /** Slow work, done outside transactions after all changes. */
  readonly afterwards?: (house: House) => Promise<void>;
}

/** An entry of the file, or a former entry that the file no longer has. */
export interface Item {
  /**
   * Compares the store with the entry, and changes nothing. Undefined: they agree. Throws an error if the entry is
   * impossible.
   */
  plan(house: House): Promise<Step | undefined>;
}

/** Members whose values are never shown. */
const HIDDEN = new Set(['secret_hash']);

/** Returns the members that differ. */
export function differences(was: object, now: object): Record<string, Difference> {
  const [old, next] = [new Map(Object.entries(was)), new Map(Object.entries(now))];
  const names = new Set([...old.keys(), ...next.keys()]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      if (isDeepStrictEqual(old.get(name), next.get(name))) return [];
      const shown = (value: unknown) => (HIDDEN.has(name) && value ? '(hidden)' : value);
      return [[name, { old: shown(old.get(name)), new: shown(next.get(name)) }]];
    }),
  );
}
