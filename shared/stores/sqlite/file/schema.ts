import type { Expired } from '../../sql/expired.ts';

/** One of the two files of the embedded store: its tables, and what in them expires. */
export interface Schema {
  readonly file: string;
  /** FULL: a commit is on the disk before it is acknowledged. NORMAL: a power cut may undo the last ones. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Its commits are counted in its table `tally` and in a mark beside it, so that one that is lost is missed. */
  readonly isCounted?: true;
  /** The writes that may use the last room on the disk: removals, which make room, or all, since nobody gets in without them. */
  readonly reserveFor: 'removals' | 'all';
  /** Forward only; the number applied is `PRAGMA user_version`. Append, never change one that was released. */
  readonly migrations: readonly string[];
  /**
   * The least number of migrations that a process has to know to work on a file with all of these: the last one that
   * changed what was there, and did not only add to it. Undefined: all.
   */
  readonly oldest?: number;
  /** The rows that expire, by table. */
  readonly expired: Readonly<Record<string, Expired>>;
}
