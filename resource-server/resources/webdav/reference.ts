import { BadRequest } from '#shared/http/fields.ts';
import { parseTreeTarget } from '#shared/http/target.ts';
import { HttpError } from '#shared/http/answer.ts';
import { leadsInto } from '../../space/spaces.ts';
import { pathWithin } from '../resource/path.ts';
import type { ResourceContext } from '../resource/resource.ts';

/** The target of a Simple-ref (RFC 4918 section 8.3). */
export type Reference =
  | { readonly kind: 'malformed' | 'elsewhere' | 'another space' }
  | { readonly kind: 'here'; readonly path: string };

/**
 * Resolves an absolute URI or absolute path in the same way as request targets.
 * `here`: a request for the reference would be in the same space, and so in the same tree. The authority of the request
 * is accepted as this server, too: a client that mounts 127.0.0.1 does not say localhost. A reference with a query, a
 * fragment or too many characters is malformed. Throws `BadRequest` for an invalid host.
 */
export function resolveReference(context: ResourceContext, reference: string): Reference {
  const { request, space } = context;
  const { headers } = request;
  const { protocol } = new URL(space.origin);
  const addressed = `${protocol}//${String(headers[':authority'] ?? headers.host)}`;
  const target = parseTreeTarget(reference);
  if (target === undefined || target.form === 'asterisk' || target.query !== undefined) {
    return { kind: 'malformed' };
  }
  if (target.form === 'absolute') {
    const origin = URL.parse(reference)?.origin;
    // RFC 3986 section 3.2.2 allows more than valid names and addresses: `e%00vil`, 99999999999.
    if (origin === undefined)
      throw new BadRequest('The URL in Destination or If has no valid host.');
    if (origin !== space.origin && origin !== URL.parse(addressed)?.origin) {
      return { kind: 'elsewhere' };
    }
  }
  if (!leadsInto(space, target)) return { kind: 'malformed' };
  if (!space.has(target.segments)) return { kind: 'another space' };
  try {
    return { kind: 'here', path: pathWithin({ space, target }) };
  } catch (error) {
    // 414 is only about the target of a request (RFC 4918 section 12.2).
    if (error instanceof HttpError) return { kind: 'malformed' };
    throw error;
  }
}
