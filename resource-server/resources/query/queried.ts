import { HttpError, notFound } from '#shared/http/answer.ts';
import { jsonMember, NAMES } from '../representation/listing.ts';
import { wholeOf } from '../../answers/pieces.ts';
import type { Place } from '../place/place.ts';
import type { ResourceStore } from '../content/resource-store.ts';

/** The longest document, in bytes, that can be queried. */
const MAX_DOCUMENT = 16 * 1024 * 1024;
/** The most members of a collection that can be queried. */
const MAX_MEMBERS = 10_000;

/** The content that a query is put to. */
export interface Queried {
  /** The queried JSON in UTF-8. */
  readonly content: Buffer;
  /** A unique version of the content: the name of a document's content, or the version of the tree. */
  readonly version: string | undefined;
  /** Milliseconds since the epoch; absent if no modification date is known. */
  readonly modified?: number;
  /** The names that members of the objects may have, if all objects have the same. */
  readonly names?: readonly string[];
}

interface At extends Pick<Place, 'path' | 'entry'> {
  readonly store: Pick<ResourceStore, 'get' | 'list' | 'content'>;
}

/**
 * Reads the content of a document, or the `members` of a collection's listing. Throws `HttpError` 404, and 422 if
 * it is too large.
 */
export async function queriedAt({ store, path, entry }: At): Promise<Queried> {
  /** Looks again after the row was read, since the resource may have been replaced or removed. */
  const again = async (): Promise<At> => ({ store, path, entry: await store.get(path) });
  if (entry === undefined) throw notFound();
  if (entry.kind === 'collection') {
    return (await membersOf({ store, path })) ?? queriedAt(await again());
  }
  if (entry.length > MAX_DOCUMENT) {
    throw new HttpError(422, `A document of over ${MAX_DOCUMENT} bytes cannot be queried.`);
  }
  const content = await store.content(entry);
  if (content !== undefined) {
    return { content: await wholeOf(content), version: entry.file, modified: entry.modified };
  }
  return queriedAt(await again());
}

async function membersOf({
  store,
  path,
}: Pick<At, 'store' | 'path'>): Promise<Queried | undefined> {
  const listed = await store.list(path, '', MAX_MEMBERS + 1);
  if (listed === undefined) return undefined;
  const { version, members } = listed;
  if (members.length > MAX_MEMBERS) {
    throw new HttpError(422, `A collection of over ${MAX_MEMBERS} members cannot be queried.`);
  }
  return { content: Buffer.from(JSON.stringify(members.map(jsonMember))), version, names: NAMES };
}
