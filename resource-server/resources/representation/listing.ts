import { HttpError } from '#shared/http/answer.ts';
import { preferredType } from '#shared/http/preferred-type.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { Frame } from '#shared/pages/document.ts';
import type { Listed } from '#shared/stores/trees/trees.ts';
import { type ListedMember, listingPage } from '../../pages/views/listing.ts';
import type { Place, Services } from '../place/place.ts';
import { type Made, madeOf } from '../place/made.ts';
import type { ResourceContext } from '../resource/resource.ts';
import { ContentGone } from './representation.ts';

/** Members on a page. */
const PAGE = 1000;

/** The members of a collection, by name. */
interface Listing {
  /** The frame of the page that shows it. */
  readonly frame: Frame;
  /** The name of the tree, for people. */
  readonly tree: string;
  /** The path of the collection. */
  readonly path: string;
  readonly members: readonly Listed[];
  /** The reference of the next page. */
  readonly next: string | undefined;
}

interface Drawn {
  readonly body: string;
  readonly fields: Readonly<Record<string, string>>;
}

const FORMATS: Readonly<Record<string, (listing: Listing) => Drawn>> = {
  'application/json': json,
  'text/html': html,
};
const TYPES = Object.keys(FORMATS);

/**
 * Returns a page of the listing, after the name in `after` of the query, in the client's preferred format. Reuses the
 * previous answer if the tree has not changed. Throws `HttpError` 406 if the client accepts no format (RFC 9110 section
 * 12.5.1), and `ContentGone`.
 */
export async function listingOf(
  { request, space, target }: Pick<ResourceContext, 'request' | 'space' | 'target'>,
  { store, path, tree }: Place,
  { made, brand }: Pick<Services, 'made' | 'brand'>,
): Promise<Made> {
  const type = preferredType(request.headers.accept, TYPES) ?? '';
  const draw = FORMATS[type];
  if (draw === undefined) {
    throw new HttpError(406, `A listing comes as ${TYPES.join(' or ')}.`, { Vary: 'Accept' });
  }
  const after = new URLSearchParams(target.query).get('after') ?? '';
  const frame: Frame = { brand, language: languageOf(request.headers['accept-language']) };
  const forPeople = type === 'text/html';
  const what = ['listing', tree, path, after, type, ...(forPeople ? [frame.language] : [])];
  const before = made.find(what, await store.version());
  if (before !== undefined) return before;
  const listed = await store.list(path, after, PAGE + 1);
  if (listed === undefined) throw new ContentGone();
  const { version, members: found } = listed;
  const members = found.slice(0, PAGE);
  const last = members.at(-1);
  const { body, fields } = draw({
    frame,
    tree: space.realm,
    path,
    members,
    next: found.length > PAGE && last ? `?after=${encodeURIComponent(nameOf(last))}` : undefined,
  });
  const content = Buffer.from(body);
  const listing = madeOf({ type, content, fields });
  made.keep(what, version, listing);
  return listing;
}

function json({ members, next }: Listing): Drawn {
  const listed = members.map(jsonMember);
  const body = JSON.stringify({ members: listed, ...(next && { next }) });
  return { body, fields: { Vary: 'Accept' } };
}

/** The names in `jsonMember`. */
export const NAMES: readonly string[] = ['name', 'type', 'length', 'modified', 'etag'];

/** Returns a member in JSON. The name of a collection ends in a slash. */
export function jsonMember(entry: Listed): object {
  const name = nameOf(entry) + slashOf(entry);
  if (entry.kind === 'collection') return { name };
  const { type, length, modified, etag } = entry;
  return { name, type, length, modified: new Date(modified).toISOString(), etag: `"${etag}"` };
}

/** On pages for people, collections come before documents. */
const collectionsFirst = (one: ListedMember, other: ListedMember) =>
  Number(one.length !== undefined) - Number(other.length !== undefined);

function html({ frame, tree, path, members, next }: Listing): Drawn {
  const { body = '', fields } = listingPage(frame, {
    tree,
    path: path === '' ? [] : path.split('/'),
    members: members
      .map((entry) => ({
        name: nameOf(entry),
        modified: entry.modified,
        ...(entry.kind === 'document' && { length: entry.length }),
      }))
      .toSorted(collectionsFirst),
    next,
  });
  return {
    body,
    fields: {
      'Content-Security-Policy': String(fields['Content-Security-Policy']),
      'Content-Language': frame.language,
      Vary: 'Accept, Accept-Language',
    },
  };
}

/** The last segment of the path. */
function nameOf({ path }: Listed): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function slashOf({ kind }: Listed): string {
  return kind === 'collection' ? '/' : '';
}
