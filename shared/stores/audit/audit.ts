/** Most entries of one link, so that closing and reading one stays short. */
export const MOST_ENTRIES = 1_000;

/** A stretch of the log whose entries and order one MAC protects, together with all links before it. */
export interface AuditLink {
  /** Counts from 1 without a gap. */
  readonly number: number;
  /** The MAC of the link before; empty in the first link. */
  readonly before: string;
  /** The first and the last `seq` of its rows. */
  readonly first: number;
  readonly last: number;
  /** No row of it or of an earlier link is later. Milliseconds since the epoch. */
  readonly at: number;
  /** Links before this number were ended, as they were older than the log is kept. */
  readonly oldest: number;
  /** Over all this, the rows and the MAC of the link before, in base64url. */
  readonly mac: string;
}

export interface AuditRow {
  /** Its place in the log: counts from 1 without a gap. */
  readonly seq: number;
  /** The event as JSON. */
  readonly text: string;
}

export interface IndexedRow extends AuditRow {
  /** The keys of the index that find it: its kind, the people, the clients. */
  readonly keys: readonly string[];
}

/** Entries that were committed and are in no link yet, in their order. */
export interface OpenEntries {
  readonly texts: readonly string[];
  /** Names the last of them for `close`. */
  readonly upTo: string;
  /** The last link when they were read. */
  readonly head: AuditLink | undefined;
}

export interface AuditQuery {
  /** Only rows that have this key. */
  readonly key?: string;
  /** Between which places, both included. */
  readonly first: number;
  readonly last: number;
  /** Whether the last one comes first. */
  readonly newestFirst?: boolean;
}

/** How often a person's sign-in was refused within an hour. */
export interface RefusalCount {
  /** Hours since the epoch. */
  readonly hour: number;
  readonly person: string;
  readonly count: number;
}

/**
 * The audit log: only appended to, and ended at its old end. Entries that belong to a change are appended with it
 * (`Stores.recorded`). An entry becomes a row when it is closed. Each verb is atomic and durable.
 */
export interface Audit {
  /** The entries of one call keep their order; those of several within a millisecond need not. */
  append(...texts: readonly string[]): Promise<void>;
  /** Counts a refusal, and appends its entry if it is among the first `most` of the person in this hour. */
  appendRefusal(of: Omit<RefusalCount, 'count'>, most: number, text: string): Promise<void>;
  /** Returns some counts of hours before `hour`. */
  refusals(hour: number): Promise<readonly RefusalCount[]>;
  /** Removes a count, and appends the entry that says it, if one is given. False: somebody else has. */
  settleRefusal(of: RefusalCount, text?: string): Promise<boolean>;
  /**
   * Whether the caller shall close what is open: where looking is dear, of all processes that ask within a second one is
   * told so.
   */
  takeTurn(): Promise<boolean>;
  /** Returns the first `MOST_ENTRIES` at most. */
  open(): Promise<OpenEntries>;
  /** Makes the open entries up to there the rows of a new link. False: somebody else has made a link with its number. */
  close(link: AuditLink, rows: readonly IndexedRow[], upTo: string): Promise<boolean>;
  /**
   * Returns at most `count` rows of links; reads no other. A range that begins behind the last link finds those that are in no
   * link.
   */
  rows(query: AuditQuery, count: number): Promise<readonly AuditRow[]>;
  /** Returns at most `count` links from a number on; without a number the last one. */
  links(from: number | undefined, count: number): Promise<readonly AuditLink[]>;
  /** Returns the first link with such an `at`, or a later one. */
  linkAt(at: number): Promise<AuditLink | undefined>;
  /** Removes the oldest link and its rows. */
  end(link: AuditLink, rows: readonly IndexedRow[]): Promise<void>;
}
