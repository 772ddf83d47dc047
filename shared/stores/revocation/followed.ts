import { StoreUnavailable } from '../outage/unavailable.ts';
import { RevocationSet } from './revocation-set.ts';
import type { Revocation, RevocationFeed } from './revocations.ts';

/** The tables to which rows are only ever added, and the columns that their feeds read. */
export const FOLLOWED = {
  revocation: 'until, kind, id, generation',
  invalidation: 'space, kind, value, soft, at',
} as const;
export type FollowedTable = keyof typeof FOLLOWED;

/** The first and last rows of such a table, and the memory that they are of. */
export interface Extent {
  readonly epoch: string;
  /** The seq of the oldest row that is kept; the one after `last` where none is. */
  readonly first: number;
  /** The seq of the last row ever written. */
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

/** Takes the rows of a table for its feed. */
export interface Followed<Row> {
  readonly table: FollowedTable;
  /**
   * Says behind which row to go on, whenever the memory may be another one. `cursor`: how far this feed has read; undefined:
   * it has read nothing of this file yet.
   */
  goOn(extent: Extent, cursor: number | undefined): number;
  /** Called once for each, in their order. */
  apply(seq: number, row: Row): void;
}

export type RevocationRow = readonly [
  until: number,
  ...(
    | [kind: 'token' | 'grant' | 'key', id: string, generation: null]
    | [kind: 'person' | 'client', id: string, generation: number]
  ),
];

/** Returns what a row says. */
export const revocationOf = ([, kind, id, generation]: RevocationRow): Revocation =>
  kind === 'person' || kind === 'client' ? { kind, id, generation } : { kind, id };

/** Fills a set with the rows of the table of revocations. */
export class FollowedRevocations implements Followed<RevocationRow> {
  readonly table = 'revocation';
  readonly set = new RevocationSet();
  readonly #listeners: ((kid: string) => void)[] = [];

  readonly onKeyRevoked: RevocationFeed['onKeyRevoked'] = (listener) => {
    this.#listeners.push(listener);
  };

  /**
   * Reads all again in another memory, and where the table ends before the cursor (it was restored in place). Known
   * revocations stay: they are merged, never replaced.
   */
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
