import type { AuthRequest } from '../scheme.ts';

/**
 * True if a page of this origin sent the request. Forms of a page with Referrer-Policy: no-referrer send the
 * origin `null`, but Fetch Metadata still tells whether it is the same origin.
 */
export function isOfOrigin(request: AuthRequest): boolean {
  const page = request.field('origin');
  if (page === request.origin) return true;
  return (
    (page === undefined || page === 'null') && request.field('sec-fetch-site') === 'same-origin'
  );
}
