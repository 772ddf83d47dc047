import { randomId } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { contentOf } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Collection } from '#shared/stores/trees/trees.ts';
import { expectedState } from '../place/expected-state.ts';
import { checkParent, overtaken, writesOf } from '../place/member.ts';
import { parentOf, urlOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';

/** MKCOL (RFC 4918 section 9.3). */
export const mkcol: MethodFactory = (services) => async (context, place) => {
  const { request, space } = context;
  const { store, path } = place;
  await refuseContent(request);
  const expected = expectedState(context, place, services);

  const now = services.treeClock.now();
  const collection: Collection = {
    path,
    kind: 'collection',
    revision: randomId(services.random),
    created: now,
    modified: now,
    properties: {},
  };
  await store.change([path, parentOf(path), ...expected.paths], (view) => {
    const entry = view.entries.get(path);
    if (entry) throw overtaken(space, place, entry);
    checkParent(view, path);
    expected.check(view, writesOf(view, path));
    return { edits: [{ kind: 'put', entry: collection }], value: undefined };
  });

  return { status: 201, fields: { Location: urlOf(space, collection) } };
};

/** Refuses any content (RFC 4918 section 9.3), including that of RFC 5689. */
async function refuseContent(request: AnyRequest): Promise<void> {
  for await (const chunk of contentOf(request)) {
    if (chunk.length > 0) throw new HttpError(415, 'MKCOL takes no content.');
  }
}
