import { BadRequest } from '#shared/http/fields.ts';
import { notFound } from '#shared/http/answer.ts';
import { depthOf } from '../webdav/depth.ts';
import { expectedState } from '../place/expected-state.ts';
import { parentOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';

/** DELETE (RFC 9110 section 9.3.5). A collection is deleted with everything in it (RFC 4918 section 9.6.1). */
export const remove: MethodFactory = (services) => async (context, place) => {
  const { store, path, slash } = place;
  const depth = depthOf(context.request) ?? 'infinity';
  const expected = expectedState(context, place, services);
  const parent = parentOf(path);

  await store.change([path, parent, ...expected.paths], (view) => {
    const entry = view.entries.get(path);
    if (entry === undefined || (slash && entry.kind === 'document')) throw notFound();
    if (entry.kind === 'collection' && depth !== 'infinity') {
      throw new BadRequest(
        'DELETE removes a collection with all its members: Depth must be infinity.',
      );
    }
    expected.check(view, [
      { path, deep: true },
      { path: parent, deep: false },
    ]);
    const edits = [...services.locks.release(view, path), { kind: 'remove' as const, path }];
    return { edits, value: undefined };
  });

  return { status: 204, fields: {} };
};
