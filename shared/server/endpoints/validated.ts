import { createHash } from 'node:crypto';
import { formatEntityTag } from '#shared/http/etag.ts';
import { evaluatePreconditions } from '#shared/http/preconditions.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';

/**
 * Returns the answer with an entity tag of its content, or 304 without the fields about content (RFC 9110 section
 * 15.4.5). Throws HttpError 412.
 */
export function validated({ method = '', headers }: AnyRequest, answer: Answer): Answer {
  const { body = '', fields } = answer;
  const etag = { weak: false, opaque: createHash('sha256').update(body).digest('base64url') };
  const conditions = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] };
  const result = evaluatePreconditions({ method, ...conditions }, { etag }, 0); // no date is compared
  if (result === 412) throw new HttpError(412, 'The resource has another version now.');
  const { 'Content-Type': type = '', ...others } = fields;
  const common = { ETag: formatEntityTag(etag), ...others };
  return result === 304
    ? { status: 304, fields: common }
    : { ...answer, fields: { ...common, 'Content-Type': type } };
}
