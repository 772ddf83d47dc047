import Negotiator from 'negotiator';

/** In which an error can be told; of two that are liked alike, the one that stands first. */
const FORMS = ['application/problem+json', 'application/json', 'text/html'];

/** Whether a page is liked better than JSON (RFC 9110 section 12.5.1). A client that takes anything gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return new Negotiator({ headers: { accept } }).mediaType(FORMS) === 'text/html';
}
