import Negotiator from 'negotiator';
import { HttpError } from '#shared/http/answer.ts';
import { escapeHtml, page } from '#shared/http/page.ts';
import type { Listed } from '#shared/stores/trees.ts';
import { hrefOf } from '../path.ts';
import type { Place, Services } from '../place.ts';
import { type Made, madeOf } from './made.ts';
import type { ResourceContext } from '../resource.ts';

/** Members on a page. */
const PAGE = 1000;

/** What is in a collection, by name. */
interface Listing {
  /** Path of the collection, as people read it. */
  readonly title: string;
  readonly root: boolean;
  readonly members: readonly Listed[];
  /** Reference of the next page. */
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
 * A page of the listing, after the name in `after` of the query, in the format that the client likes
 * best; that of before if nothing in the tree has changed since. Throws `HttpError` 406 when it would take none (RFC 9110 section 12.5.1).
 */
export async function listingOf(
  { request, space, target }: Pick<ResourceContext, 'request' | 'space' | 'target'>,
  { store, path, tree }: Place,
  { made }: Pick<Services, 'made'>,
): Promise<Made> {
  const type = new Negotiator(request).mediaType(TYPES) ?? '';
  const draw = FORMATS[type];
  if (draw === undefined) {
    throw new HttpError(406, `A listing comes as ${TYPES.join(' or ')}.`, { Vary: 'Accept' });
  }
  const after = new URLSearchParams(target.query).get('after') ?? '';
  const what = ['listing', tree, path, after, type];
  const before = made.find(what, await store.version());
  if (before !== undefined) return before;
  const { version, members: found } = await store.list(path, after, PAGE + 1);
  const members = found.slice(0, PAGE);
  const last = members.at(-1);
  const { body, fields } = draw({
    title: decodeURIComponent(hrefOf(space, { path, kind: 'collection' })),
    root: path === '',
    members,
    next: found.length > PAGE && last ? `?after=${encodeURIComponent(nameOf(last))}` : undefined,
  });
  const content = Buffer.from(body);
  const listing = madeOf({ type, content, fields: { ...fields, Vary: 'Accept' } });
  made.keep(what, version, listing);
  return listing;
}

function json({ members, next }: Listing): Drawn {
  const listed = members.map(jsonMember);
  return { body: JSON.stringify({ members: listed, ...(next && { next }) }), fields: {} };
}

/** A member as machines read it; the name of a collection ends in a slash. */
export function jsonMember(entry: Listed): object {
  const name = nameOf(entry) + slashOf(entry);
  if (entry.kind === 'collection') return { name };
  const { type, length, modified, etag } = entry;
  return { name, type, length, modified: new Date(modified).toISOString(), etag: `"${etag}"` };
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

/** By the power of 1000. Made when they are needed first: that takes as long as 200 modules to load. */
const sizes: Intl.NumberFormat[] = [];

function sizeOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = (sizes[power] ??= new Intl.NumberFormat('en', {
    style: 'unit',
    unit: UNITS[power],
    maximumFractionDigits: 1,
  }));
  return size.format(bytes / 1000 ** power);
}

function html({ title, root, members, next }: Listing): Drawn {
  const above = root ? '' : '<p><a href="../">Up</a></p>';
  const rows = members.map((entry) => {
    const [name, slash] = [nameOf(entry), slashOf(entry)];
    return `<tr>
<td><a href="./${encodeURIComponent(name)}${slash}"><bdi>${escapeHtml(name)}${slash}</bdi></a></td>
<td>${entry.kind === 'document' ? sizeOf(entry.length) : ''}</td>
<td>${timeOf(entry)}</td>
</tr>`;
  });
  const table = `<table>
<thead><tr><th scope="col">Name</th><th scope="col">Size</th><th scope="col">Modified</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
  const further = next && `<p><a href="${escapeHtml(next)}">Next page</a></p>`;
  const content = [above, rows.length > 0 ? table : '<p>Nothing is in here.</p>', further];
  const { body = '', fields } = page(title, content.filter(Boolean).join('\n'));
  const { 'Content-Security-Policy': policy = 'sandbox' } = fields;
  return { body, fields: { 'Content-Security-Policy': String(policy) } };
}

function timeOf({ modified }: Listed): string {
  const date = new Date(modified).toISOString();
  return `<time datetime="${date}">${date.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Last part of its path. */
function nameOf({ path }: Listed): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function slashOf({ kind }: Listed): string {
  return kind === 'collection' ? '/' : '';
}
