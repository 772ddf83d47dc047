import { setImmediate as othersFirst } from 'node:timers/promises';
import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { XmlElement } from './xml-element.ts';
import { createAtMost } from '../../exchange/at-most.ts';
import { createInTurn } from '../../../shared/base/in-turn.ts';
import { parseSlices, parseXml, PARSED_AT_ONCE } from './xml-parser.ts';

const LONGEST = 1024 * 1024;
/** The most long contents of one principal in all workers that wait or are being parsed. */
const MOST_EACH = 16;

/** Within a process, long contents are parsed in slices, one at a time for each principal. */
const [each, inTurn] = [createAtMost('XML', MOST_EACH), createInTurn()];

/**
 * The encodings that every XML parser must support, by their byte order marks. Without a mark the encoding is UTF-8.
 */
const MARKS = [
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
] as const;

/** The encoding in the XML declaration. */
const DECLARED = /^<\?xml\s[^>]*?\sencoding\s*=\s*["'](?<encoding>[^"'>]*)/;

const ACCEPT = { Accept: 'application/xml, text/xml' };

/**
 * Reads the content of a request as XML and resolves to the root element, or to undefined without content. Rejects with
 * 413 over 1 MiB, and 415 for other content than XML in UTF-8 or UTF-16. Rejects with 503 if too many long contents of
 * this principal wait, else as `parseXml` throws.
 */
export async function readXml(
  request: AnyRequest,
  principal: string,
): Promise<XmlElement | undefined> {
  const content = await wholeContent(request, LONGEST, tooLong);
  if (content.length === 0) return undefined;
  checkType(request);
  const text = decode(content);
  checkEncoding(DECLARED.exec(text)?.groups?.['encoding']);
  if (text.length <= PARSED_AT_ONCE) return parseXml(text);
  return each(principal, () => inTurn(principal, () => parseBetweenOthers(text)));
}

async function parseBetweenOthers(text: string): Promise<XmlElement> {
  const slices = parseSlices(text);
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
    await othersFirst();
  }
}

const TYPES =
  /^(?:application\/xml|text\/xml|text\/plain|application\/x-www-form-urlencoded)[ \t]*(?:;|$)/i;

/**
 * Checks the media type.
 * RFC 4918 section 8.2 asks for two types. But some clients send none, `fetch` with a string sends text/plain, and
 * `curl -d` sends the type of forms. Pages of other origins gain nothing: a form cannot send methods of WebDAV, and a
 * script needs a preflight for each (Fetch Standard section 3.3).
 */
function checkType({ rawHeaders }: AnyRequest): void {
  if (single(rawHeaders, 'content-encoding') !== undefined) {
    throw new HttpError(415, 'Send the XML without a content coding.', {
      'Accept-Encoding': 'identity',
    });
  }
  const type = single(rawHeaders, 'content-type') ?? 'application/xml';
  if (!TYPES.test(type)) {
    throw new HttpError(415, 'Send XML as application/xml.', ACCEPT);
  }
  checkEncoding(/;[ \t]*charset="?(?<charset>[^";\s]+)/i.exec(type)?.groups?.['charset']);
}

function decode(content: Buffer): string {
  const marked = MARKS.find(({ mark }) => mark.equals(content.subarray(0, mark.length)));
  try {
    return new TextDecoder(marked?.encoding ?? 'utf-8', { fatal: true }).decode(content);
  } catch {
    throw new BadRequest('The XML is neither UTF-8 nor UTF-16 with a byte order mark.');
  }
}

/** Checks the encoding that the content declares. A wrong declaration would change the meaning of the content. */
function checkEncoding(name = 'utf-8'): void {
  if (!/^(?:utf-?8|utf-16(?:le|be)?|us-ascii)$/i.test(name)) {
    throw new HttpError(415, 'Send the XML in UTF-8.', ACCEPT);
  }
}

const tooLong = () => new HttpError(413, `XML has at most ${LONGEST} bytes.`);
