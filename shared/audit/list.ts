import type { Audit, AuditRow } from '#shared/stores/audit/audit.ts';
import { type Entry, entryOf, keyOf } from './entry.ts';
import type { Kind } from './event-kinds.ts';

/** Which events are asked for; all that is given has to fit. */
export interface AuditFilter {
  readonly kind?: Kind | undefined;
  /** Id of a person or application that did it or that it is about. */
  readonly person?: string | undefined;
  readonly client?: string | undefined;
  /** Milliseconds since the epoch: from then on, and before then. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface Page {
  /** Behind which place to begin, in the direction of the list. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly newestFirst?: boolean;
}

export type Listed = { readonly seq: number } & Entry;

export interface AuditPage {
  readonly events: readonly Listed[];
  /** Behind which place the next page begins. Absent: there is none. */
  readonly next?: number;
}

/**
 * Returns a page of the log by an index of the store: that of the person, the application or the kind. It reads `limit` rows
 * and no more, so with several filters a page may have fewer events, or none, and yet a next one.
 */
export async function listEvents(
  audit: Audit,
  filter: AuditFilter,
  { after, limit, newestFirst = false }: Page,
): Promise<AuditPage> {
  const { first, last } = await placesOf(audit, filter);
  const begun = newestFirst
    ? { first, last: Math.min(last, (after ?? Infinity) - 1) }
    : { first: Math.max(first, (after ?? 0) + 1), last };
  if (begun.first > begun.last) return { events: [] };
  const key = indexOf(filter);
  const rows = await audit.rows({ ...begun, newestFirst, ...(key && { key }) }, limit);
  const next = rows.length === limit ? rows.at(-1)?.seq : undefined;
  const events = rows.map(listed).filter((event) => fits(event, filter));
  return { events, ...(next !== undefined && { next }) };
}

const listed = ({ seq, text }: AuditRow): Listed => ({ seq, ...entryOf(text) });

/** The index with the fewest rows, as far as that is known beforehand. */
function indexOf({ person, client, kind }: AuditFilter): string | undefined {
  if (person !== undefined) return keyOf.person(person);
  if (client !== undefined) return keyOf.client(client);
  return kind && keyOf.kind(kind);
}

/** The places of links, whose times are in order, that may have such events. */
async function placesOf(audit: Audit, { since, until }: AuditFilter) {
  const [head] = await audit.links(undefined, 1);
  const none = { first: 1, last: 0 };
  if (head === undefined) return none;
  const from = since === undefined ? undefined : await audit.linkAt(since);
  if (since !== undefined && from === undefined) return none;
  const to = until === undefined ? undefined : await audit.linkAt(until);
  return { first: from?.first ?? 1, last: to?.last ?? head.last };
}

function fits(event: Listed, { kind, person, client, since, until }: AuditFilter): boolean {
  const at = Date.parse(event.time);
  return (
    (kind === undefined || event.kind === kind) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until) &&
    isOf(event, 'person', person) &&
    isOf(event, 'client', client)
  );
}

const isOf = (event: Listed, name: 'person' | 'client', id: string | undefined): boolean =>
  id === undefined ||
  Reflect.get(event, name) === id ||
  (typeof event.who === 'object' && Reflect.get(event.who, name) === id);
