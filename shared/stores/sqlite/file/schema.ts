import type { Expired } from '../../sql/expired.ts';

/** One of the two files of the embedded store: its tables, and the rows that expire. */
export interface Schema {
  readonly file: string;
  /** FULL: a commit is on the disk before it is acknowledged. NORMAL: a power cut may undo the last commits. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Commits are counted in the table `tally` and in a mark, so that a lost commit is noticed. */
  readonly isCounted?: true;
  /** The writes that may use the last room: removals, or all writes of a file that sign-in needs. */
  readonly reserveFor: 'removals' | 'all';
  /** The migrations, only forward. `PRAGMA user_version` counts the applied ones. Never change a released one. */
  readonly migrations: readonly string[];
  /** The least number of migrations that a process must know to use this file. Undefined: all. */
  readonly oldest?: number;
  /** The rows that expire, by table. */
  readonly expired: Readonly<Record<string, Expired>>;
}
