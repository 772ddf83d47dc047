import type { Document, TreeView } from '#shared/stores/trees/trees.ts';
import { expectedState } from '../place/expected-state.ts';
import { typeOfName } from '../../answers/media-type.ts';
import { checkParent, overtaken, writesOf } from '../place/member.ts';
import { parentOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { written } from '../representation/representation.ts';
import { announced, checkUpload, contentWithin, newDocument } from '../content/upload.ts';

/**
 * PUT (RFC 9110 section 9.3.4): the content becomes the document, whose dead properties stay (RFC 4918 section 9.7).
 * The server checks the conditions before it reads the content. It checks them again afterwards if the state has
 * changed.
 */
export const put: MethodFactory = (services) => async (context, place) => {
  const { request, space } = context;
  const { store, path } = place;
  const type = checkUpload(request, services.maxBytes, typeOfName(path));
  const expected = expectedState(context, place, services);
  const paths = [path, parentOf(path), ...expected.paths];

  function replaced(view: TreeView): Document | undefined {
    checkParent(view, path);
    const entry = view.entries.get(path);
    if (entry?.kind === 'collection') throw overtaken(space, place, entry);
    expected.check(view, writesOf(view, path));
    return entry;
  }

  const seen = await store.look(paths);
  const content = contentWithin(request, store.quota, seen.usage, replaced(seen)?.length);
  const { document, created } = await store.receive(
    content,
    (received) => {
      const fresh = newDocument({ path, type }, received, services);
      return store.change(
        paths,
        (view) => {
          const before = replaced(view);
          const entry = before
            ? { ...fresh, created: before.created, properties: before.properties }
            : fresh;
          const value = { document: entry, created: before === undefined };
          return { edits: [{ kind: 'put', entry }], value };
        },
        seen,
      );
    },
    announced(request),
  );

  return written(space, document, created);
};
