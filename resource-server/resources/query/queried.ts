import { HttpError, notFound } from '#shared/http/answer.ts';
import { jsonMember } from '../representation/listing.ts';
import { wholeOf } from '../../answers/pieces.ts';
import type { Place } from '../place/place.ts';
import type { ResourceStore } from '../content/resource-store.ts';

/** Bytes of the longest document that can be queried. */
const MAX_DOCUMENT = 16 * 1024 * 1024;
/** Members of the largest collection that can be. */
const MAX_MEMBERS = 10_000;

/** What a query is put to. */
export interface Queried {
  /** JSON in UTF-8. */
  readonly content: Buffer;
  /** That nothing else has which can be queried: the name of a document's content, or the version of its tree. */
  readonly version: string | undefined;
  /** Milliseconds since the epoch; absent: no modification date is known. */
  readonly modified?: number;
}

interface At extends Pick<Place, 'path' | 'entry'> {
  readonly store: Pick<ResourceStore, 'get' | 'list' | 'content'>;
}

/**
 * The content of a document, or the `members` of a collection's listing. Throws `HttpError` 404, and 422
 * when there is too much of it.
 */
export async function queriedAt({ store, path, entry }: At): Promise<Queried> {
  if (entry === undefined) throw notFound();
  if (entry.kind === 'collection') return membersOf({ store, path });
  if (entry.length > MAX_DOCUMENT) {
    throw new HttpError(422, `A document of over ${MAX_DOCUMENT} bytes cannot be queried.`);
  }
  const content = await store.content(entry);
  if (content !== undefined) {
    return { content: await wholeOf(content), version: entry.file, modified: entry.modified };
  }
  // It went between the row and the reading: it was replaced or removed.
  const current = await store.get(path);
  if (current?.kind === 'document' && current.file === entry.file) {
    throw new Error(`content ${entry.file} is missing`);
  }
  return queriedAt({ store, path, entry: current });
}

async function membersOf({ store, path }: Pick<At, 'store' | 'path'>): Promise<Queried> {
  const { version, members } = await store.list(path, '', MAX_MEMBERS + 1);
  if (members.length > MAX_MEMBERS) {
    throw new HttpError(422, `A collection of over ${MAX_MEMBERS} members cannot be queried.`);
  }
  return { content: Buffer.from(JSON.stringify(members.map(jsonMember))), version };
}
