import {
  type Audit,
  type AuditQuery,
  type AuditRow,
  MOST_ENTRIES,
} from '#shared/stores/audit/audit.ts';
import { type Entry, entryOf, keyOf } from './entry.ts';
import { LATE, SLACK } from './late.ts';
import type { Kind } from './event-kinds.ts';

/** The filter for events; an event must match all given members. */
export interface AuditFilter {
  readonly kind?: Kind | undefined;
  /** Id of a person or application that is the actor or the subject. */
  readonly person?: string | undefined;
  readonly client?: string | undefined;
  /** Milliseconds since the epoch: `since` is included, `until` is not. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface Page {
  /** The position after which the page begins, in the direction of the list. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly newestFirst?: boolean;
}

export type Listed = { readonly seq: number } & Entry;

export interface AuditPage {
  readonly events: readonly Listed[];
  /** The position after which the next page begins; absent if there is none. */
  readonly next?: number;
}

/** How many times a page reads on while no event matches. */
const READS = 10;

/**
 * Returns a page of the log by an index of the store: that of the person, the application or the kind, or of an actor
 * together with the kind. It reads `limit` rows, and at most `READS` times more while none matches. So a page may
 * have fewer events, or none, although another page follows.
 */
export async function listEvents(
  audit: Audit,
  filter: AuditFilter,
  { after, limit, newestFirst = false }: Page,
): Promise<AuditPage> {
  const inOrder = await stretchesOf(audit, filter);
  const stretches = newestFirst ? inOrder.toReversed() : inOrder;
  let behind = after;
  let reads = 0;
  for (const [n, stretch] of stretches.entries()) {
    for (let isEnd = false; !isEnd;) {
      const range = newestFirst
        ? { ...stretch, last: Math.min(stretch.last, (behind ?? Infinity) - 1) }
        : { ...stretch, first: Math.max(stretch.first, (behind ?? 0) + 1) };
      if (range.first > range.last) break;
      const count = reads === 0 ? limit : MOST_ENTRIES;
      const rows = await audit.rows({ ...range, newestFirst }, count);
      if (rows.length > 0) reads += 1;
      const fitting = rows.map(listed).filter((event) => fits(event, filter));
      const events = fitting.slice(0, limit);
      behind = (events.length < fitting.length ? events : rows).at(-1)?.seq ?? behind;
      isEnd = rows.length < count && events.length === fitting.length;
      if (isEnd && n === stretches.length - 1) return { events };
      if (events.length > 0 || reads > READS) return { events, ...(behind && { next: behind }) };
    }
  }
  return { events: [] };
}

const listed = ({ seq, text }: AuditRow): Listed => ({ seq, ...entryOf(text) });

/** Returns the index that is expected to have the fewest rows. */
function indexOf({ person, client, kind }: AuditFilter): string | undefined {
  const actor = person === undefined ? client && keyOf.client(client) : keyOf.person(person);
  if (actor !== undefined && kind !== undefined) return keyOf.joint(actor, kind);
  return actor ?? (kind && keyOf.kind(kind));
}

/** A range of positions that may have matching events, and its index. */
type Stretch = Omit<AuditQuery, 'newestFirst'>;

/**
 * Returns the ranges of the log that may have matching events, in its order. After the link that is later than
 * `until` by `SLACK`, only late rows are earlier than `until`, and these have an index of their own.
 */
async function stretchesOf(audit: Audit, filter: AuditFilter): Promise<readonly Stretch[]> {
  const { since, until } = filter;
  const [head] = await audit.links(undefined, 1);
  if (head === undefined) return [];
  const from = since === undefined ? undefined : await audit.linkAt(since);
  if (since !== undefined && from === undefined) return [];
  const key = indexOf(filter);
  const whole = { first: from?.first ?? 1, last: head.last, ...(key && { key }) };
  const later = until === undefined ? undefined : await audit.linkAt(until + SLACK);
  if (later === undefined) return [whole];
  const rest = { first: Math.max(whole.first, later.last + 1), last: head.last, key: LATE };
  return [{ ...whole, last: later.last }, rest];
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
