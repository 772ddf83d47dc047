/** Most entries of one link, so that a link is closed and read in a short time. */
export const MOST_ENTRIES = 1_000;

/** A stretch of the log whose entries and order one MAC protects, together with all links before it. */
export interface AuditLink {
  /** Counts from 1 without a gap. */
  readonly number: number;
  /** The MAC of the previous link; empty in the first link. */
  readonly before: string;
  /** The first and the last `seq` of its rows. */
  readonly first: number;
  readonly last: number;
  /** No row of this link or of an earlier link is later. Milliseconds since the epoch. */
  readonly at: number;
  /** The log has ended all links before this number: they were older than the log is kept. */
  readonly oldest: number;
  /** The MAC of these members, the rows and the previous MAC, in base64url. */
  readonly mac: string;
}

export interface AuditRow {
  /** The place of the row in the log: counts from 1 without a gap. */
  readonly seq: number;
  /** The event as JSON. */
  readonly text: string;
}

export interface IndexedRow extends AuditRow {
  /** The index finds the row by these keys: the kind of the event, the people, the clients. */
  readonly keys: readonly string[];
}

/** Entries in their order that were committed, but are in no link yet. */
export interface OpenEntries {
  readonly texts: readonly string[];
  /** Names the last of the entries for `close`. */
  readonly upTo: string;
  /** The last link at the time when the entries were read. */
  readonly head: AuditLink | undefined;
}

export interface AuditQuery {
  readonly key?: string;
  /** The range of places, both ends included. */
  readonly first: number;
  readonly last: number;
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
 * The audit log. Entries are appended, alone or with a change (`Stores.recorded`), and become rows when they are
 * closed. Links are removed at the old end. Each verb is atomic and durable.
 */
export interface Audit {
  /** The entries of one call keep their order. Entries of several calls within a millisecond may not. */
  append(...texts: readonly string[]): Promise<void>;
  /** Counts a refusal, and appends its entry if it is among the first `most` of the person in this hour. */
  appendRefusal(of: Omit<RefusalCount, 'count'>, most: number, text: string): Promise<void>;
  /** Returns some counts of hours before `hour`. */
  refusals(hour: number): Promise<readonly RefusalCount[]>;
  /** Removes a count, and appends `text`. False: another process has removed the count. */
  settleRefusal(of: RefusalCount, text?: string): Promise<boolean>;
  /** Whether the caller should close the open entries. Where asking is expensive, one caller in a second gets true. */
  takeTurn(): Promise<boolean>;
  /** Returns the first `MOST_ENTRIES` at most. */
  open(): Promise<OpenEntries>;
  /**
   * Makes the open entries up to `upTo` rows of a new link. False: another process has made a link with this number.
   */
  close(link: AuditLink, rows: readonly IndexedRow[], upTo: string): Promise<boolean>;
  /** Returns at most `count` rows in links. A range after the last link finds the rows that are in no link. */
  rows(query: AuditQuery, count: number): Promise<readonly AuditRow[]>;
  /** Returns at most `count` links from a number on, or without a number the last link. */
  links(from: number | undefined, count: number): Promise<readonly AuditLink[]>;
  /** Returns the first link whose `at` is this time or later. */
  linkAt(at: number): Promise<AuditLink | undefined>;
  /** Removes the oldest link and its rows. */
  end(link: AuditLink, rows: readonly IndexedRow[]): Promise<void>;
}
