import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { InputError } from '#shared/operations/operation.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { said } from '#shared/refusals/operations.ts';

/** Octets of the longest content. */
const LONGEST = 64 * 1024;

/** Matches the media type, which has no parameter but `charset` that some clients add (RFC 8259 section 11). */
const TYPE = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i;

/**
 * Reads the JSON content of a request. Throws `HttpError` 415 for another media type or a content coding, 413 if it is too
 * long, and `BadRequest` if it is no JSON in UTF-8 (RFC 8259 section 8.1), and `InputError` for a
 * member that is there twice.
 */
export async function receiveJson(request: AnyRequest): Promise<unknown> {
  const { rawHeaders } = request;
  if (!TYPE.test(single(rawHeaders, 'content-type') ?? '')) {
    throw new HttpError(415, 'Send content of the type application/json.', {
      Accept: 'application/json',
    });
  }
  if (single(rawHeaders, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the content without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  const content = await wholeContent(
    request,
    LONGEST,
    () => new HttpError(413, `The content has at most ${LONGEST} octets.`),
  );
  try {
    return parseStrictJson(content);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { path, fault } = error;
    if (fault === 'not-json') throw new BadRequest('The content is no JSON in UTF-8.');
    throw new InputError(path, said(fault === 'twice' ? 'given-twice' : 'unknown-member'));
  }
}
