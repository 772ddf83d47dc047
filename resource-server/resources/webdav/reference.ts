import { BadRequest } from '#shared/http/fields.ts';
import { parseTreeTarget } from '#shared/http/target.ts';
import { HttpError } from '#shared/http/answer.ts';
import { leadsInto } from '../../space/spaces.ts';
import { pathWithin } from '../resource/path.ts';
import type { ResourceContext } from '../resource/resource.ts';

/** Where a Simple-ref (RFC 4918 section 8.3) leads. */
export type Reference =
  | { readonly kind: 'malformed' | 'elsewhere' | 'another space' }
  | { readonly kind: 'here'; readonly path: string };

/**
 * Resolves an absolute URI or absolute path as targets of requests are: `here` is what a request for it
 * would find in the space of the visit, and so in the same tree. This server is where the request itself
 * went, too: who mounts 127.0.0.1 does not say localhost. Malformed as well: a query, a fragment, and what
 * is too long. Throws `BadRequest` for a host that is none.
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
    // RFC 3986 section 3.2.2 lets more through than names and addresses are: `e%00vil`, 99999999999.
    if (origin === undefined)
      throw new BadRequest('The host of a URL in Destination or If is none.');
    if (origin !== space.origin && origin !== URL.parse(addressed)?.origin) {
      return { kind: 'elsewhere' };
    }
  }
  if (!leadsInto(space, target)) return { kind: 'malformed' };
  if (!space.has(target.segments)) return { kind: 'another space' };
  try {
    return { kind: 'here', path: pathWithin({ space, target }) };
  } catch (error) {
    // RFC 4918 section 12.2: 414 is about the target of a request alone.
    if (error instanceof HttpError) return { kind: 'malformed' };
    throw error;
  }
}
