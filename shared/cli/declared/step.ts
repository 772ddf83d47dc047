import { isDeepStrictEqual } from 'node:util';
import type { House } from '#shared/operations/operation.ts';
import type { DeclaredThing } from '#shared/stores/declared/declared.ts';

/** The values of a member before and after; undefined: it is absent. */
export interface Difference {
  readonly old?: unknown;
  readonly new?: unknown;
}

/** One thing that differs from the file. */
export interface Change {
  readonly kind: DeclaredThing['kind'];
  /** The name or id in the file. */
  readonly name: string;
  /** The application whose key it is: nobody knows a key by its id. */
  readonly owner?: string;
  readonly change: 'added' | 'changed' | 'removed' | 'disabled';
  readonly members: Readonly<Record<string, Difference>>;
}

/** The work that makes the store as the file says. */
export interface Step {
  /** Absent: nothing that anybody sees is changed. */
  readonly change?: Change;
  /** The person whom it makes an administrator who can sign in, or takes that from. */
  readonly administrator?: { readonly id: string; readonly after: boolean };
  run(house: House): Promise<void>;
  /** Done once all changes are made, outside of transactions: what may take long. */
  readonly afterwards?: (house: House) => Promise<void>;
}

/** A thing of the file, or one that the file no longer has. */
export interface Item {
  /** Looks at the store, and changes nothing; undefined: all is as it should be. Throws what says why it cannot be. */
  plan(house: House): Promise<Step | undefined>;
}

/** Members whose values are shown to nobody. */
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
