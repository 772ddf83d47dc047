import type { AuthRequest } from '../scheme.ts';

/**
 * True if a page of this origin sent the request. A form on a page with Referrer-Policy: no-referrer sends the origin
 * `null`, but Fetch Metadata still shows whether the origin is the same.
 */
export function isOfOrigin(request: AuthRequest): boolean {
  const page = request.field('origin');
  if (page === request.origin) return true;
  return (
    (page === undefined || page === 'null') && request.field('sec-fetch-site') === 'same-origin'
  );
}
