import { Readable } from 'node:stream';
import { setImmediate as othersFirst } from 'node:timers/promises';
import { HttpError } from '#shared/http/answer.ts';
import { preferredReturn, type PreferredReturn } from '#shared/http/prefer.ts';
import type { Document, TreeView } from '#shared/stores/trees/trees.ts';
import { createAtMost, createInShares } from '../../exchange/at-most.ts';
import { expectedState } from '../place/expected-state.ts';
import { createInTurn } from '#shared/base/in-turn.ts';
import { MalformedJson, parseJson } from '../json/parse.ts';
import { type PatchDocument, readPatch, receivePatch } from '../json/patch-document.ts';
import type { Json } from '../json/value.ts';
import { writeJson } from '../json/write.ts';
import { isJson } from '../../answers/media-type.ts';
import { checkParent, overtaken, writesOf } from '../place/member.ts';
import { parentOf } from '../resource/path.ts';
import { type ResourceAnswer, wholeOf } from '../../answers/pieces.ts';
import type { MethodFactory } from '../place/place.ts';
import type { ResourceStore } from '../content/resource-store.ts';
import { newDocument } from '../content/upload.ts';
import type { ResourceContext } from '../resource/resource.ts';
import { GUARDED, wholeFields, written } from '../representation/representation.ts';

export { ACCEPT_PATCH } from '../json/patch-document.ts';

/** The longest document that can be patched, and the longest result, in bytes. */
const MAX_DOCUMENT = 4 * 1024 * 1024;
/** The most tries of a patch while other requests change the document. */
const TURNS = 10;
/** The most patches of one principal, including those that are being received. */
const MOST_EACH = 8;
/** The most patches of all principals that wait or are being applied, and the share of one principal. */
const MOST = 32;
const PART = 1 / 4;
/**
 * The key under which patches of any document are computed one at a time, since they take time and memory. It differs
 * from every document's key.
 */
const MAKING = 'making';

/** The document has changed since the patch was applied to it. */
class Stale extends Error {
  override readonly name = 'Stale';
}

/**
 * PATCH of JSON (RFC 5789), completely or not at all.
 * The answer has the result if the client prefers that. The document keeps its type and its dead properties. A patch of
 * a missing document creates a new document. The server evaluates the conditions before it applies the patch, and again
 * with the result. If other requests have changed the content by then, it applies the patch again.
 *
 * A patch is applied in this process, so all sizes are limited: a patch to 1 MiB, a document and a result to 4 MiB. A
 * patch has at most 1,000 operations. Each value, and all added and copied values together, have at most 100,000
 * values, 200 levels, and numbers of 1,000 characters. One result is computed at a time, in steps between which other
 * requests are served. Throws `HttpError` 503 if too many patches wait, or if other requests change the content again
 * and again.
 */
export const patch: MethodFactory = (services) => {
  const inTurn = createInTurn();
  const each = createAtMost('patches', MOST_EACH);
  const inShares = createInShares('patches of all', MOST);
  return async (context, place) => {
    const { store, path, holder } = place;
    const expected = expectedState(context, place, services);
    const paths = [path, parentOf(path), ...expected.paths];
    const maxBytes = Math.min(services.maxBytes, MAX_DOCUMENT);

    function judge(view: TreeView): Document | undefined {
      checkParent(view, path);
      const entry = view.entries.get(path);
      if (entry !== undefined && (entry.kind !== 'document' || !isJson(entry.type))) {
        throw overtaken(context.space, place, entry);
      }
      expected.check(view, writesOf(view, path));
      return entry;
    }

    /** Applies the patch to the current document. Throws `Stale`. */
    async function make(received: PatchDocument) {
      await othersFirst();
      const apply = readPatch(received);
      const seen = await store.look(paths);
      const before = judge(seen);
      const document = before && (await read(store, before));
      await othersFirst();
      const result = apply(document);
      await othersFirst();
      return { seen, file: before?.file, content: writeJson(result, maxBytes) };
    }

    /** Tries a patch once. Throws `Stale`. */
    async function attempt(received: PatchDocument) {
      const { seen, file, content } = await inTurn(MAKING, () => make(received));
      return store.receive(
        Readable.from([content]),
        (stored) => {
          const fresh = newDocument({ path, type: 'application/json' }, stored, services);
          return store.change(
            paths,
            (view) => {
              const before = judge(view);
              // Content never changes under its name. Properties may have changed, and are kept.
              if (before?.file !== file) throw new Stale();
              const document = before
                ? {
                    ...fresh,
                    type: before.type,
                    created: before.created,
                    properties: before.properties,
                  }
                : fresh;
              const value = { document, created: before === undefined, content };
              return { edits: [{ kind: 'put', entry: document }], value };
            },
            seen,
          );
        },
        content.length,
      );
    }

    const preference = preferredReturn(context.request.rawHeaders);
    const answer = await each(holder, async () => {
      const received = await receivePatch(context.request);
      return inShares([{ name: holder, part: PART }], () =>
        inTurn(JSON.stringify([place.tree, path]), () => untilFresh(() => attempt(received))),
      );
    });
    return preferred(context, preference, answer);
  };
};

/** Reads the value of a document. Throws `HttpError` 409 if the content is not JSON, 413 over 4 MiB. */
async function read(store: ResourceStore, document: Document): Promise<Json> {
  if (document.length > MAX_DOCUMENT) {
    throw new HttpError(413, `A document of over ${MAX_DOCUMENT} bytes cannot be patched.`);
  }
  const content = await store.content(document);
  if (content === undefined) throw new Stale();
  try {
    return parseJson(await wholeOf(content));
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw new HttpError(409, `The document is not JSON that can be patched: ${error.message}.`);
  }
}

/**
 * Tries until the result is fresh. Each stale try means that another change succeeded. Throws `HttpError` 503 after too
 * many tries.
 */
async function untilFresh<T>(attempt: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }
  throw new HttpError(503, 'Other requests are changing the same resource. Try again.', {
    'Retry-After': '1',
  });
}

/**
 * Answers a write with its validators only (`written`) or, if the client prefers that (RFC 7240 section 4.2), with the
 * document as GET would send it.
 * Content-Location says that the content represents the target (RFC 9110 section 8.7), and its explicit freshness is
 * zero. So a cache may store it for GET (RFC 5789 section 2), and revalidates it before each use. No Vary is needed,
 * because the answer to GET does not depend on the preference.
 */
function preferred(
  { space, target }: Pick<ResourceContext, 'space' | 'target'>,
  preference: PreferredReturn | undefined,
  { document, created, content }: Written,
): ResourceAnswer {
  const { status, fields } = written(space, document, created);
  const applied = preference && { 'Preference-Applied': `return=${preference}` };
  if (preference !== 'representation') return { status, fields: { ...fields, ...applied } };
  return {
    status: created ? 201 : 200,
    fields: {
      ...wholeFields(document),
      ...fields,
      ...applied,
      'Cache-Control': `${GUARDED['Cache-Control']}, max-age=0`,
      'Content-Location': target.path,
    },
    body: content,
  };
}

interface Written {
  readonly document: Document;
  readonly created: boolean;
  /** The content of the document. */
  readonly content: Buffer;
}
