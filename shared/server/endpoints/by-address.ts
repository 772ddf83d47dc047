/** Decisions by method and address alone, before authentication. */
import type { Answer, Fields } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import { allow } from '#shared/http/methods.ts';
import { isPreflight } from './cors.ts';
import type { Endpoint } from './endpoint.ts';
import type { AnyRequest } from '../message/message.ts';
import { optionsAnswer } from './options-answer.ts';

/**
 * Answers `OPTIONS *` for the server as a whole (RFC 9110 section 9.3.7). Throws BadRequest for a method other than
 * OPTIONS.
 */
export function aboutServer({ method }: Pick<AnyRequest, 'method'>, options: Fields): Answer {
  if (method === 'OPTIONS') return { status: 204, fields: options };
  throw new BadRequest('Only OPTIONS may have the target `*` (RFC 9112 section 3.2.4).');
}

/**
 * Answers a preflight or OPTIONS for an endpoint. Returns undefined if the endpoint has the requested method;
 * otherwise throws HttpError 405. `options`: the fields of OPTIONS for the server.
 */
export function aboutEndpoint(
  request: AnyRequest,
  { cors, methods, options: own }: Endpoint,
  options: Fields,
): Answer | undefined {
  const { method = '' } = request;
  if (method === 'OPTIONS') {
    if (own && !(cors && isPreflight(request))) {
      const answer = own();
      const readable = cors?.answers(request.headers.origin);
      return { ...answer, fields: { Allow: allow(methods), ...answer.fields, ...readable } };
    }
    const fields = { ...options, Allow: allow(methods) };
    return optionsAnswer(request, { cors, methods, options: fields });
  }
  checkMethod(method, { methods });
  return undefined;
}
