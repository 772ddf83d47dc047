import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { type Reference, resolveReference } from './reference.ts';
import type { ResourceContext } from '../resource/resource.ts';

const REFUSALS: Readonly<Record<Exclude<Reference['kind'], 'here'>, () => Error>> = {
  malformed: () => new BadRequest('Destination is not an absolute URI or path without a query.'),
  // RFC 4918 sections 9.8.5 and 9.9.4.
  elsewhere: () => new HttpError(502, 'Nothing is copied or moved to another server.'),
  'another space': () => new HttpError(403, 'Nothing is copied or moved to another space.'),
};

/** Octets that no URI has: a space, and those of no ASCII. */
const UNESCAPED = /[ \x80-\xff]/g;

/**
 * Percent-encodes the octets that clients such as git-annex leave as they are. A `%` beside them could be one of the
 * name or begin an escape, so such a field stays as it is, which is malformed.
 */
const escaped = (field: string) =>
  field.includes('%')
    ? field
    : field.replaceAll(UNESCAPED, (octet) => `%${octet.charCodeAt(0).toString(16)}`);

/**
 * Returns the path in the same tree that the Destination field refers to (RFC 4918 section 10.3). Throws 400 if it
 * is missing or malformed, 502 for another server, 403 for another space of this one.
 */
export function destinationOf(context: ResourceContext): string {
  const field = single(context.request.rawHeaders, 'destination');
  if (field === undefined) throw new BadRequest('Name the Destination.');
  const resolved = resolveReference(context, escaped(field));
  if (resolved.kind !== 'here') throw REFUSALS[resolved.kind]();
  const { space } = context;
  // Members below the destination could end up in that other space.
  if (space.encloses([...space.segments, ...resolved.path.split('/')])) {
    throw REFUSALS['another space']();
  }
  return resolved.path;
}
