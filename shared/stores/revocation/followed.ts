import { StoreUnavailable } from '../outage/unavailable.ts';
import { RevocationSet } from './revocation-set.ts';
import type { Revocation, RevocationFeed } from './revocations.ts';

/** The tables to which rows are only added, and the columns that their feeds read. */
export const FOLLOWED = {
  revocation: 'until, kind, id, generation',
  invalidation: 'space, kind, value, soft, at',
} as const;
export type FollowedTable = keyof typeof FOLLOWED;

/** The epoch of a table, and its first and last row. */
export interface Extent {
  readonly epoch: string;
  /** The seq of the oldest row; `last` + 1 if there is no row. */
  readonly first: number;
  /** The seq of the last row that was ever written. */
  readonly last: number;
}

export type ExtentRow = readonly [epoch: string | null, first: number | null, last: number];

/** In SQL: an `ExtentRow`. */
export const extentIn = (table: FollowedTable): string =>
  `SELECT (SELECT id FROM epoch), (SELECT min(seq) FROM ${table}), LAST(${table}, seq)`;

/** In SQL: the rows after a number, in their order, at most `most`. */
export const rowsBehind = (table: FollowedTable, most: number | '?'): string =>
  `SELECT seq, ${FOLLOWED[table]} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ${most}`;

/** Throws `StoreUnavailable` if the store has no epoch. */
export function extentFrom([[epoch, first, last] = [null, null, 0]]: readonly ExtentRow[]): Extent {
  if (epoch !== null) return { epoch, first: first ?? last + 1, last };
  throw new StoreUnavailable('the store has no epoch: no authorization server has used it yet');
}

/** Applies the rows of a table to a feed. */
export interface Followed<Row> {
  readonly table: FollowedTable;
  /** Returns the row to continue after. `cursor`: the last row that was read; undefined: none of this file. */
  goOn(extent: Extent, cursor: number | undefined): number;
  /** Called once for each row, in order. */
  apply(seq: number, row: Row): void;
}

export type RevocationRow = readonly [
  until: number,
  ...(
    | [kind: 'token' | 'grant' | 'key', id: string, generation: null]
    | [kind: 'person' | 'client', id: string, generation: number]
  ),
];

/** Returns the revocation of a row. */
export const revocationOf = ([, kind, id, generation]: RevocationRow): Revocation =>
  kind === 'person' || kind === 'client' ? { kind, id, generation } : { kind, id };

/** Adds the rows of the table of revocations to a set. */
export class FollowedRevocations implements Followed<RevocationRow> {
  readonly table = 'revocation';
  readonly set = new RevocationSet();
  readonly #listeners: ((kid: string) => void)[] = [];

  readonly onKeyRevoked: RevocationFeed['onKeyRevoked'] = (listener) => {
    this.#listeners.push(listener);
  };

  /** Begins again in another epoch, or after a restore in place. Known revocations stay. */
  goOn({ epoch, last }: Extent, cursor = 0): number {
    const isSame = epoch === this.set.epoch && cursor <= last;
    this.set.epoch = epoch;
    return isSame ? cursor : 0;
  }

  apply(_: number, row: RevocationRow): void {
    const [until, kind, id] = row;
    this.set.apply(revocationOf(row), until);
    if (kind === 'key') for (const listener of this.#listeners) listener(id);
  }
}
