import { BadRequest } from '#shared/http/fields.ts';
import { allow } from '#shared/http/methods.ts';
import { type Answer, type Fields, notImplemented } from '#shared/http/answer.ts';

/**
 * The answer to a request for `*`, which is about the server as a whole (RFC 9110 section 9.3.7). `handled`:
 * the methods that it knows somewhere. Throws HttpError 501 for another, BadRequest for one but OPTIONS.
 */
export function aboutServer(
  method: string,
  handled: ReadonlySet<string>,
  fields: Fields = {},
): Answer {
  if (!handled.has(method)) throw notImplemented(method);
  if (method !== 'OPTIONS') {
    throw new BadRequest('Only OPTIONS can be asked of `*` (RFC 9112 section 3.2.4).');
  }
  return { status: 204, fields: { Allow: allow(handled), ...fields } };
}
