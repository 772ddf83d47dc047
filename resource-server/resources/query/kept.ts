import type { Target } from '#shared/http/target.ts';
import type { Kept } from '#shared/stores/trees/kept.ts';
import type { Place } from '../place/place.ts';
import { madeOf } from '../place/made.ts';
import type { Query } from './evaluate.ts';
import type { Result } from './result.ts';

/** Seconds for which a query can be repeated by GET, and the most stored queries of one principal in one tree. */
const ROOM = { seconds: 600, most: 32 };

/** The longest result, in bytes, that is kept with its query. */
const MAX_KEPT = 256 * 1024;

/** `equivalent` repeats the query by its id (RFC 10008 section 2.4), and `result` returns its result (section 2.3). */
export type KeptKind = 'equivalent' | 'result';

export interface KeptQuery {
  readonly query: Query;
  /** Absent if the result was too long. */
  readonly result?: Result;
}

/** A stored query in the store's form. */
interface Stored {
  readonly path: string;
  readonly query: Query;
  readonly result?: {
    readonly type: string;
    readonly text: string;
    readonly modified?: number;
  };
}

/** Reads the id of a stored query or result from the target's query component. Any other query component is ignored. */
export function keptAt({ query = '' }: Target): { kind: KeptKind; id: string } | undefined {
  const [, kind, id] = /^(equivalent|result)=(.*)$/.exec(query) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind: kind as KeptKind, id };
}

/** Keeps a query with its result. Resolves to query components that reveal nothing about the query. */
export async function keepQuery(
  kept: Kept,
  place: Place,
  query: Query,
  { type, content, modified }: Result,
): Promise<Partial<Record<KeptKind, string>>> {
  const short = content.length <= MAX_KEPT;
  const stored: Stored = {
    path: place.path,
    query,
    ...(short && {
      result: { type, text: content.toString(), ...(modified !== undefined && { modified }) },
    }),
  };
  const id = await kept.put(ownerOf(place), JSON.stringify(stored), ROOM);
  return { equivalent: `equivalent=${id}`, ...(short && { result: `result=${id}` }) };
}

/** Finds a stored query. Resolves to undefined if it has expired, or belongs to another resource or principal. */
export async function findQuery(
  kept: Kept,
  place: Place,
  id: string,
): Promise<KeptQuery | undefined> {
  const value = await kept.get(ownerOf(place), id);
  if (value === undefined) return undefined;
  const { path, query, result } = JSON.parse(value) as Stored;
  if (path !== place.path) return undefined;
  if (result === undefined) return { query };
  const { type, text, ...when } = result;
  return { query, result: { ...madeOf({ type, content: Buffer.from(text) }), ...when } };
}

function ownerOf({ tree, principal }: Place): string {
  return JSON.stringify(['query', tree, principal]);
}
