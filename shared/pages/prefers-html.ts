import { preferredType } from '#shared/http/preferred-type.ts';

/** The media types in which the server can tell an error. If a client likes two equally, it gets the first of them. */
const FORMS = ['application/problem+json', 'application/json', 'text/html'];

/** Whether a page is liked better than JSON (RFC 9110 section 12.5.1). A client that takes anything gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && preferredType(accept, FORMS) === 'text/html';
}
