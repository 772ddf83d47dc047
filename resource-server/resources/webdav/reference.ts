import { parseTarget } from '#shared/http/target.ts';
import { HttpError } from '#shared/server/answer.ts';
import { pathWithin } from '../path.ts';
import type { Visit } from '../resource.ts';

/** Where a Simple-ref (RFC 4918 section 8.3) leads. */
export type Reference =
  | { readonly kind: 'malformed' | 'elsewhere' | 'another space' }
  | { readonly kind: 'here'; readonly path: string };

/**
 * Resolves an absolute URI or absolute path as targets of requests are: `here` is in the space of the
 * visit, and so in the same tree. Malformed as well: a query, a fragment, and what is too long.
 */
export function resolveReference(visit: Visit, reference: string): Reference {
  const { space } = visit;
  const target = parseTarget(reference);
  if (target === undefined || target.form === 'asterisk' || target.query !== undefined) {
    return { kind: 'malformed' };
  }
  if (target.form === 'absolute' && new URL(reference).origin !== space.origin) {
    return { kind: 'elsewhere' };
  }
  if (!space.segments.every((segment, index) => segment === target.segments[index])) {
    return { kind: 'another space' };
  }
  try {
    return { kind: 'here', path: pathWithin({ ...visit, target }) };
  } catch (error) {
    // RFC 4918 section 12.2: 414 is about the target of a request alone.
    if (error instanceof HttpError) return { kind: 'malformed' };
    throw error;
  }
}
