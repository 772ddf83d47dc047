import { parseTarget } from '#shared/http/target.ts';
import { HttpError } from '#shared/server/answer.ts';
import { pathWithin } from '../path.ts';
import type { ResourceContext } from '../resource.ts';

/** Where a Simple-ref (RFC 4918 section 8.3) leads. */
export type Reference =
  | { readonly kind: 'malformed' | 'elsewhere' | 'another space' }
  | { readonly kind: 'here'; readonly path: string };

/**
 * Resolves an absolute URI or absolute path as targets of requests are: `here` is what a request for it
 * would find in the space of the visit, and so in the same tree. This server is where the request itself
 * went, too: who mounts 127.0.0.1 does not say localhost. Malformed as well: a query, a fragment, and what
 * is too long.
 */
export function resolveReference(
  { req: { headers }, state: visit }: ResourceContext,
  reference: string,
): Reference {
  const { space } = visit;
  const { protocol } = new URL(space.origin);
  const addressed = `${protocol}//${String(headers[':authority'] ?? headers.host)}`;
  const target = parseTarget(reference);
  if (target === undefined || target.form === 'asterisk' || target.query !== undefined) {
    return { kind: 'malformed' };
  }
  if (target.form === 'absolute') {
    const { origin } = new URL(reference);
    if (origin !== space.origin && origin !== URL.parse(addressed)?.origin) {
      return { kind: 'elsewhere' };
    }
  }
  if (!space.has(target.segments)) return { kind: 'another space' };
  try {
    return { kind: 'here', path: pathWithin({ ...visit, target }) };
  } catch (error) {
    // RFC 4918 section 12.2: 414 is about the target of a request alone.
    if (error instanceof HttpError) return { kind: 'malformed' };
    throw error;
  }
}
