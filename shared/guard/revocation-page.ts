import { createHash } from 'node:crypto';
import type { Revocation } from '#shared/stores/revocation/revocations.ts';

/** A revocation as a follower receives it. Its id is a digest (`digestOf`), except for keys, which are public. */
export type PageEntry = Revocation & {
  /** Milliseconds since the epoch from which the entry may be forgotten. */
  readonly until: number;
};

/** An answer of `GET {issuer}/revocations`. */
export interface RevocationPage {
  /** Identifier of the store's memory; entries of any other epoch are no longer valid. */
  readonly epoch: string;
  /** The next request's `after`, by which the follower confirms that it has all entries up to here. */
  readonly cursor: string;
  readonly entries: readonly PageEntry[];
  /**
   * Seconds, from the moment when the request was sent, for which the known revocations may be trusted. 0: this page
   * is one of several, and another follows.
   */
  readonly lease: number;
}

/**
 * The most entries of an answer. A follower gets a lease only with all entries, so it can keep up with so many in one
 * round trip: 13,000 revocations a second over 300 ms.
 */
export const PAGE_ENTRIES = 4_000;

/** Returns the digest that replaces an identifier. A reader who has not seen the token learns nothing from it. */
export function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

/** `revocation` has the identifier itself. */
export function pageEntry(revocation: Revocation, until: number): PageEntry {
  const { kind, id } = revocation;
  return { ...revocation, id: kind === 'key' ? id : digestOf(id), until };
}

export function formatPage(page: RevocationPage): string {
  return JSON.stringify(page);
}

/** Throws for any unknown content: an entry that cannot be understood must not be ignored. */
export function parsePage(text: string): RevocationPage {
  const page: unknown = JSON.parse(text);
  if (!isObject(page)) throw unreadable('page');
  const { epoch, cursor, entries, lease } = page;
  if (!isText(epoch) || !isText(cursor)) throw unreadable('page');
  if (!isAmount(lease) || !Array.isArray(entries)) throw unreadable('page');
  return { epoch, cursor, entries: entries.map(parseEntry), lease };
}

function parseEntry(entry: unknown): PageEntry {
  if (!isObject(entry)) throw unreadable('entry');
  const { kind, id, until, generation } = entry;
  if (!isText(id) || !isAmount(until)) throw unreadable('entry');
  if (kind === 'token' || kind === 'grant' || kind === 'key') return { kind, id, until };
  const raised = kind === 'person' || kind === 'client';
  if (!raised || !Number.isSafeInteger(generation)) throw unreadable('entry');
  return { kind, id, generation: Number(generation), until };
}

const unreadable = (what: string) =>
  new Error(`the ${what} of the revocations cannot be understood`);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
