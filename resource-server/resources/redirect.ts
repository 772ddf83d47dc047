import { urlOf } from './path.ts';
import type { Place } from './place.ts';
import { GUARDED } from './representation/representation.ts';
import type { ResourceContext } from './resource.ts';

/**
 * 308 from a collection to its address with the slash, which links in a listing are relative to; method
 * and content stay the same (RFC 9110 section 15.4.9).
 */
export function redirectToSlash(context: ResourceContext, { path }: Place): void {
  const { space, target } = context.state;
  const query = target.query === undefined ? '' : `?${target.query}`;
  context.body = null;
  context.status = 308;
  const location = `${urlOf(space, { path, kind: 'collection' })}${query}`;
  context.set({ ...GUARDED, Location: location, 'Content-Length': '0' });
}
