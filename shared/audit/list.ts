import { type Audit, type AuditRow, MOST_ENTRIES } from '#shared/stores/audit/audit.ts';
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

/** How often a page reads on while no event fits. */
const READS = 10;

/**
 * Returns a page of the log by an index of the store: that of the person, the application or the kind. It reads `limit`
 * rows, and `READS` times more while none fits, so a page may have fewer events, or none, and yet a next one.
 */
export async function listEvents(
  audit: Audit,
  filter: AuditFilter,
  { after, limit, newestFirst = false }: Page,
): Promise<AuditPage> {
  const places = await placesOf(audit, filter);
  const key = indexOf(filter);
  let behind = after;
  for (let read = 0; ; read += 1) {
    const { first, last } = newestFirst
      ? { first: places.first, last: Math.min(places.last, (behind ?? Infinity) - 1) }
      : { first: Math.max(places.first, (behind ?? 0) + 1), last: places.last };
    if (first > last) return { events: [] };
    const count = read === 0 ? limit : MOST_ENTRIES;
    const rows = await audit.rows({ first, last, newestFirst, ...(key && { key }) }, count);
    const fitting = rows.map(listed).filter((event) => fits(event, filter));
    const events = fitting.slice(0, limit);
    behind = (events.length < fitting.length ? events : rows).at(-1)?.seq;
    const isEnd = rows.length < count && events.length === fitting.length;
    if (isEnd) return { events };
    if (events.length > 0 || read === READS) return { events, ...(behind && { next: behind }) };
  }
}

const listed = ({ seq, text }: AuditRow): Listed => ({ seq, ...entryOf(text) });

/** The index with the fewest rows, as far as that is known beforehand. */
function indexOf({ person, client, kind }: AuditFilter): string | undefined {
  if (person !== undefined) return keyOf.person(person);
  if (client !== undefined) return keyOf.client(client);
  return kind && keyOf.kind(kind);
}

/** The places that may have such events. Behind a row of a clock that was ahead there are earlier ones, so none ends them. */
async function placesOf(audit: Audit, { since }: AuditFilter) {
  const [head] = await audit.links(undefined, 1);
  const none = { first: 1, last: 0 };
  if (head === undefined) return none;
  const from = since === undefined ? undefined : await audit.linkAt(since);
  if (since !== undefined && from === undefined) return none;
  return { first: from?.first ?? 1, last: head.last };
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
