import { createHash } from 'node:crypto';
import { randomId } from '#shared/random.ts';
import type { DocumentRow } from '#shared/stores/documents.ts';
import { notFound } from '#shared/server/answer.ts';
import { pathWithin, urlOf } from './path.ts';
import { evaluate, isConditional, preconditionFailed } from './preconditions.ts';
import { GUARDED, validators } from './representation.ts';
import type { Handler, Methods, Visit } from './resource.ts';
import type { Shelf } from './shelf.ts';
import { checkUpload, receive } from './upload.ts';

interface Listing {
  readonly etag: string;
  readonly body: string;
}

/**
 * The methods of a collection: a path that ends in a slash. Collections come and go with their
 * documents; the one at the space itself is always there.
 */
export function collectionMethods(shelf: Shelf): Methods {
  const { key, rows, clock, random, maxBytes } = shelf;

  async function list(visit: Visit): Promise<Listing | undefined> {
    const path = pathWithin(visit);
    const prefix = path === '' ? '' : `${path}/`;
    const found = await rows.list(key, prefix);
    if (found.length === 0 && prefix !== '') return undefined;
    const body = JSON.stringify({ members: members(found, prefix) });
    return { body, etag: createHash('sha256').update(body).digest('base64url') };
  }

  const read: Handler = async (context) => {
    const listing = await list(context.state);
    if (listing === undefined) throw notFound();
    const verdict = evaluate(context.req, listing, clock.now());
    if (verdict === 412) throw preconditionFailed();
    if (verdict === 304) {
      context.status = 304;
    } else {
      context.body = listing.body;
      context.set('Content-Type', 'application/json');
    }
    context.set({ ETag: `"${listing.etag}"`, ...GUARDED });
  };

  /** RFC 9110 section 9.3.3. Conditions are compared with the listing before the content is read. */
  const create: Handler = async (context) => {
    const { req: request, state } = context;
    const prefix = pathWithin(state);
    const type = checkUpload(request, maxBytes);
    if (isConditional(request) && evaluate(request, await list(state), clock.now()) !== 'proceed') {
      throw preconditionFailed();
    }
    const name = randomId(random);
    const path = prefix === '' ? name : `${prefix}/${name}`;
    const { row, done } = await receive(shelf, request, { path, type }, (fresh) =>
      rows.put(key, fresh, 'absent'),
    );
    if (done.kind === 'conflict') throw new Error(`random name ${name} is taken`);
    context.body = null;
    context.status = 201;
    context.set({ ...validators(row), Location: urlOf(state.space, path) });
  };

  return new Map([
    ['GET', read],
    ['HEAD', read],
    ['POST', create],
  ]);
}

/** Documents directly below the prefix, and the name of each collection there is below it. */
function members(rows: readonly DocumentRow[], prefix: string): readonly object[] {
  const collections = new Set<string>();
  const documents: object[] = [];
  for (const { path, type, length, modified, etag } of rows) {
    const name = path.slice(prefix.length);
    const slash = name.indexOf('/');
    if (slash !== -1) collections.add(name.slice(0, slash + 1));
    else {
      const at = new Date(modified).toISOString();
      documents.push({ name, type, length, modified: at, etag: `"${etag}"` });
    }
  }
  return [...[...collections].map((name) => ({ name })), ...documents];
}
