import { randomId } from '#shared/base/random.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import type { TreeView } from '#shared/stores/trees/trees.ts';
import { expectedState } from '../place/expected-state.ts';
import { writesOf } from '../place/member.ts';
import { LONGEST_PATH, urlOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { validators } from '../representation/representation.ts';
import { announced, checkUpload, contentWithin, newDocument } from '../content/upload.ts';

/** POST to a collection (RFC 9110 section 9.3.3): the content becomes a document with a new name. */
export const post: MethodFactory = (services) => async (context, place) => {
  const { request, space } = context;
  const { store, path: collection } = place;
  const type = checkUpload(request, services.maxBytes);
  const expected = expectedState(context, place, services);
  const name = randomId(services.random);
  const path = collection === '' ? name : `${collection}/${name}`;
  const paths = [path, collection, ...expected.paths];
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    const detail = `The path of a new document in this collection would have over ${LONGEST_PATH} bytes.`;
    throw new HttpError(409, detail);
  }

  function judge(view: TreeView): void {
    if (view.entries.get(collection)?.kind !== 'collection') throw notFound();
    if (view.entries.get(path)) throw new Error(`the random name ${name} is taken`);
    expected.check(view, writesOf(view, path));
  }

  const seen = await store.look(paths);
  judge(seen);
  const content = contentWithin(request, store.quota, seen.usage);
  const document = await store.receive(
    content,
    (received) => {
      const fresh = newDocument({ path, type }, received, services);
      return store.change(
        paths,
        (view) => {
          judge(view);
          return { edits: [{ kind: 'put', entry: fresh }], value: fresh };
        },
        seen,
      );
    },
    announced(request),
  );

  return { status: 201, fields: { ...validators(document), Location: urlOf(space, document) } };
};
