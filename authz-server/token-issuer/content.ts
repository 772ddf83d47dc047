import { single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/**
 * The most octets of a request. The longest message has 354 octets (a Token of type 2); a wrong length gets 422, not
 * 413.
 */
const LONGEST = 1024;

/**
 * Reads the content of a request. `type` is a media type without defined parameters. Throws `HttpError` 415 for another
 * media type, one with parameters, or a content coding; `HttpError` 413 if the content is too long (before reading any
 * of it if its length is announced); and `BadRequest` if the content ends early.
 */
export async function receive(request: AnyRequest, type: string): Promise<Buffer> {
  const { rawHeaders } = request;
  if (single(rawHeaders, 'content-type')?.toLowerCase() !== type) {
    throw new HttpError(415, `Send content of the type ${type}.`, { Accept: type });
  }
  if (single(rawHeaders, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the content without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  return wholeContent(
    request,
    LONGEST,
    () => new HttpError(413, `The content has at most ${LONGEST} octets.`),
  );
}
