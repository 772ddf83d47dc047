import { randomId } from '#shared/random.ts';
import { notFound } from '#shared/server/answer.ts';
import { contentOf } from '#shared/server/content.ts';
import type { View } from '#shared/stores/trees.ts';
import { createGuard } from '../guard.ts';
import { writesOf } from '../member.ts';
import { urlOf } from '../path.ts';
import type { MethodFactory } from '../place.ts';
import { validators } from '../representation.ts';
import { checkUpload, newDocument } from '../upload.ts';

/** POST to a collection (RFC 9110 section 9.3.3): the content becomes a document with a new name. */
export const post: MethodFactory = (services) => async (context, place) => {
  const { req: request, state } = context;
  const { store, path: collection } = place;
  const type = checkUpload(request, services.maxBytes);
  const guard = createGuard(context, place, services);
  const name = randomId(services.random);
  const path = collection === '' ? name : `${collection}/${name}`;
  const paths = [path, collection, ...guard.paths];

  function judge(view: View): void {
    if (view.entries.get(collection)?.kind !== 'collection') throw notFound();
    if (view.entries.get(path)) throw new Error(`the random name ${name} is taken`);
    guard.check(view, writesOf(view, path));
  }

  judge(await store.look(paths));
  const document = await store.receive(contentOf(request), (received) => {
    const fresh = newDocument({ path, type }, received, services);
    return store.change(paths, (view) => {
      judge(view);
      return { edits: [{ kind: 'put', entry: fresh }], value: fresh };
    });
  });

  context.body = null;
  context.status = 201;
  context.set({ ...validators(document), Location: urlOf(state.space, document) });
};
