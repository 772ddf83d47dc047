import { BadRequest } from '#shared/http/fields.ts';
import { randomId } from '#shared/base/random.ts';
import { notFound } from '#shared/http/answer.ts';
import { expectedState } from '../place/expected-state.ts';
import { multiStatus } from '../webdav/multi-status.ts';
import { hrefOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { propertyInstructions, updateProperties } from '../webdav/property-update.ts';
import { readXml } from '../webdav/xml.ts';

/** PROPPATCH (RFC 4918 section 9.2). Content, entity tag and Last-Modified do not change (section 15.7). */
export const proppatch: MethodFactory = (services) => async (context, place) => {
  const { store, path, slash } = place;
  const expected = expectedState(context, place, services);
  const root = await readXml(context.request, place.holder);
  if (root === undefined) throw new BadRequest('Send XML that says what to change.');
  const instructions = propertyInstructions(root);
  const revision = randomId(services.random);

  const response = await store.change([path, ...expected.paths], (view) => {
    const entry = view.entries.get(path);
    if (entry === undefined || (slash && entry.kind === 'document')) throw notFound();
    expected.check(view, [{ path, deep: false }]);
    const { properties, propstats } = updateProperties(entry.properties, instructions);
    const changed =
      properties && ({ kind: 'put', entry: { ...entry, revision, properties } } as const);
    const href = hrefOf(context.space, entry);
    return { edits: changed ? [changed] : [], value: { href, propstats } };
  });
  return multiStatus([[response]]);
};
