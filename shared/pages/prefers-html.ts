import { preferredType } from '#shared/http/preferred-type.ts';

/** The media types of errors. If a client prefers two equally, it gets the first of them. */
const FORMS = ['application/problem+json', 'application/json', 'text/html'];

/**
 * Returns whether a client prefers a page to JSON (RFC 9110 section 12.5.1). A client that accepts anything gets
 * JSON.
 */
export function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && preferredType(accept, FORMS) === 'text/html';
}
