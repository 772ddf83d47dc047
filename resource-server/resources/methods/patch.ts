import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { HttpError } from '#shared/server/answer.ts';
import type { Document, View } from '#shared/stores/trees.ts';
import { createGuard } from '../guard.ts';
import { createInTurn } from '../in-turn.ts';
import { MalformedJson, parseJson } from '../json/parse.ts';
import { receivePatch } from '../json/patch-document.ts';
import type { Json } from '../json/value.ts';
import { writeJson } from '../json/write.ts';
import { isJson } from '../media-type.ts';
import { checkParent, overtaken, writesOf } from '../member.ts';
import { parentOf, urlOf } from '../path.ts';
import type { MethodFactory } from '../place.ts';
import { validators } from '../representation.ts';
import type { ResourceStore } from '../resource-store.ts';
import { newDocument } from '../upload.ts';

export { ACCEPT_PATCH } from '../json/patch-document.ts';

/** Bytes of the longest document that is patched, and of the longest that comes of it. */
const MAX_DOCUMENT = 16 * 1024 * 1024;
/** Times that a patch is applied while others change the document. */
const TURNS = 100;

/** The document is not the one any more that the patch was applied to. */
class Stale extends Error {
  override readonly name = 'Stale';
}

/**
 * PATCH of JSON (RFC 5789), all of it or nothing. The document keeps its type and its dead properties; a
 * patch that applies to nothing makes a new one. The conditions are judged before the patch is applied, and
 * again when the result is there: if others have changed the document by then, it is applied to theirs.
 */
export const patch: MethodFactory = (services) => {
  const inTurn = createInTurn();
  return async (context, place) => {
    const { store, path } = place;
    const apply = await receivePatch(context.req);
    const guard = createGuard(context, place, services);
    const paths = [path, parentOf(path), ...guard.paths];
    const maxBytes = Math.min(services.maxBytes, MAX_DOCUMENT);

    function judge(view: View): Document | undefined {
      checkParent(view, path);
      const entry = view.entries.get(path);
      if (entry !== undefined && (entry.kind !== 'document' || !isJson(entry.type))) {
        throw overtaken(context.state.space, place, entry);
      }
      guard.check(view, writesOf(view, path));
      return entry;
    }

    /** Throws `Stale`. */
    async function attempt() {
      const seen = judge(await store.look(paths));
      const content = writeJson(apply(seen && (await read(store, seen))), maxBytes);
      return store.receive(Readable.from([content]), (received) => {
        const fresh = newDocument({ path, type: 'application/json' }, received, services);
        return store.change(paths, (view) => {
          const before = judge(view);
          if (before?.revision !== seen?.revision) throw new Stale();
          const document = before
            ? {
                ...fresh,
                type: before.type,
                created: before.created,
                properties: before.properties,
              }
            : fresh;
          const value = { document, created: before === undefined };
          return { edits: [{ kind: 'put', entry: document }], value };
        });
      });
    }

    const { document, created } = await inTurn(JSON.stringify([place.tree, path]), () =>
      untilFresh(attempt),
    );
    context.body = null;
    context.status = created ? 201 : 204;
    if (created) context.set('Location', urlOf(context.state.space, document));
    context.set(validators(document));
  };
};

/** The value of a document. Throws `HttpError` 409 when it is not JSON after all, 413 over 16 MiB. */
async function read(store: ResourceStore, document: Document): Promise<Json> {
  if (document.length > MAX_DOCUMENT) {
    throw new HttpError(413, `A document of over ${MAX_DOCUMENT} bytes cannot be patched.`);
  }
  const content = await store.content(document);
  if (content === undefined) throw new Stale();
  try {
    return parseJson(Buffer.isBuffer(content) ? content : await buffer(content));
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw new HttpError(409, `The document is not JSON that can be patched: ${error.message}.`);
  }
}

/** Each turn that is stale was another's success. Throws `HttpError` 503 when there were too many of them. */
async function untilFresh<T>(attempt: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }
  throw new HttpError(503, 'Others are changing the same. Try again.', { 'Retry-After': '1' });
}
