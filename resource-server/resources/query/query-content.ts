import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { isMediaType } from '../../answers/media-type.ts';
import type { Query } from './evaluate.ts';
import { FORMATS } from './formats.ts';

const TYPES = [...FORMATS.keys()];

/** The value of Accept-Query (RFC 10008 section 3), a List of Structured Fields. */
export const ACCEPT_QUERY = TYPES.map((type) => `"${type}"`).join(', ');

/** The longest query, in bytes. */
const MAX_QUERY = 64 * 1024;

/**
 * Receives the query of a request. Throws as RFC 10008 section 2.1 recommends: `BadRequest` without a media type or for
 * content that does not match the type, `HttpError` 415 with Accept-Query. Also throws 413 over 64 KiB, and 415 for a
 * content coding.
 */
export async function receiveQuery(request: AnyRequest): Promise<Query> {
  const { rawHeaders } = request;
  const type = formatOf(single(rawHeaders, 'content-type'));
  if (single(rawHeaders, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the query without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  const content = await wholeContent(request, MAX_QUERY, tooLong);
  try {
    return { type, text: new TextDecoder('utf-8', { fatal: true }).decode(content) };
  } catch {
    throw new BadRequest('The content is not in UTF-8.');
  }
}

function formatOf(field: string | undefined): string {
  if (field === undefined) throw new BadRequest('A query needs a Content-Type.');
  if (!isMediaType(field)) throw new BadRequest('Content-Type is not a media type.');
  const type = field.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!FORMATS.has(type) || !isUtf8(field)) {
    throw new HttpError(415, `Queries are in UTF-8, of these types: ${TYPES.join(', ')}.`, {
      'Accept-Query': ACCEPT_QUERY,
      Accept: TYPES.join(', '),
    });
  }
  return type;
}

/**
 * True if the charset is UTF-8, the default for types that define none. Other charsets may be named, but are not
 * supported.
 */
function isUtf8(field: string): boolean {
  const charsets = [...field.matchAll(/;[ \t]*charset="?([^";]*)/gi)];
  return charsets.every(([, charset]) => charset?.trim().toLowerCase() === 'utf-8');
}

const tooLong = () => new HttpError(413, `A query has at most ${MAX_QUERY} bytes.`);
