import { urlOf } from '../resource/path.ts';
import type { Place } from '../place/place.ts';
import { GUARDED } from './representation.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';

/**
 * Redirects with 308 from a collection to its URL with the slash, to which links in a listing are relative. The client
 * repeats the request with the same method and content (RFC 9110 section 15.4.9).
 */
export function redirectToSlash(
  { space, target }: ResourceContext,
  { path }: Place,
): ResourceAnswer {
  const query = target.query === undefined ? '' : `?${target.query}`;
  const location = `${urlOf(space, { path, kind: 'collection' })}${query}`;
  return { status: 308, fields: { ...GUARDED, Location: location, 'Content-Length': '0' } };
}
