import { Http2ServerRequest } from 'node:http2';
import { BadRequest, lines, listMembers } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { maxForwards } from './max-forwards.ts';
import { failure } from './failure.ts';
import { type Name, nameOf } from './names.ts';

/** Field lines as [name, value], in order. */
export type Lines = [name: string, value: string][];

/** The header section of a message. */
export interface Head {
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
}

/** Whether a line is not forwarded. */
export type Drop = (name: Name, value: string) => boolean;

/** Methods with which a Content-Length of zero is meaningless (RFC 9110 section 8.6). */
const NO_CONTENT = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** The length of the content as received, or `chunked`. Undefined: no content. */
export type Framing = string | undefined;

/** How the content of a request is framed (RFC 9112 section 6.3, RFC 9113 section 8.1). */
export function framingOf(request: AnyRequest): Framing {
  const [coding] = lines(request.rawHeaders, 'transfer-encoding');
  const [length] = lines(request.rawHeaders, 'content-length');
  if (coding !== undefined) return 'chunked';
  if (length !== undefined) return length;
  const open = request instanceof Http2ServerRequest && !request.stream.endAfterHeaders;
  return open ? 'chunked' : undefined;
}

/** The fields that frame the content of a request. */
export function framingLines(framing: Framing, method = ''): Lines {
  if (framing === 'chunked') return [['Transfer-Encoding', 'chunked']];
  if (framing !== undefined) return [['Content-Length', framing]];
  return NO_CONTENT.has(method) ? [] : [['Content-Length', '0']];
}

/**
 * The field lines to forward with a request, without its framing and connection fields. `pseudonym`: this server's name
 * in Via (RFC 9110 section 7.6.3). `drop`: further fields to leave out. Throws BadRequest if Connection names a field
 * that is for all recipients.
 */
export function onwardLines(request: AnyRequest, pseudonym: string, drop: Drop): Lines {
  const { rawHeaders, httpVersion } = request;
  const named = connectionOptions(rawHeaders);
  const stolen = [...named].find((name) => nameOf(name).endToEnd);
  if (stolen !== undefined) throw new BadRequest(`Connection must not name ${stolen}.`);

  const hops = maxForwards(request);
  const onward = endToEnd(
    rawHeaders,
    (name, value) =>
      name.hop ||
      name.rewritten ||
      named.has(name.canonical) ||
      (hops !== undefined && name.canonical === 'max-forwards') ||
      drop(name, value),
  );
  const cookies = lines(rawHeaders, 'cookie');
  // HTTP/2 may split the Cookie field (RFC 9113 section 8.2.3).
  if (cookies.length > 0) onward.push(['Cookie', cookies.join('; ')]);
  if (hops !== undefined) onward.push(['Max-Forwards', String(hops - 1)]);
  onward.push(['Via', `${httpVersion} ${pseudonym}`]);
  return onward;
}

/** Whether the client accepts trailers (RFC 9110 section 10.1.4). */
export function takesTrailers({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): boolean {
  return listMembers(lines(rawHeaders, 'te')).includes('trailers');
}

/**
 * The field lines of an answer, final or interim, to return, without its framing fields. Throws HttpError 502 for a
 * malformed Connection.
 */
export function answerLines({ rawHeaders, httpVersion }: Head, pseudonym: string): Lines {
  const named = answerOptions(rawHeaders);
  const back = endToEnd(
    rawHeaders,
    ({ hop, framing, canonical }) => hop || framing || named.has(canonical),
  );
  back.push(['Via', `${httpVersion} ${pseudonym}`]);
  return back;
}

/** The trailer fields of a message to forward. `drop`: further fields to leave out. */
export function trailerLines(
  { rawHeaders, rawTrailers }: Pick<AnyRequest, 'rawHeaders' | 'rawTrailers'>,
  drop: Drop = () => false,
): Lines {
  const named = connectionOptions(rawHeaders);
  return endToEnd(
    rawTrailers,
    (name, value) =>
      name.hop ||
      name.rewritten ||
      name.inHeaderOnly ||
      name.vouched ||
      named.has(name.canonical) ||
      drop(name, value),
  );
}

/** The end-to-end lines of a message, without pseudo-header fields. */
function endToEnd(raw: readonly string[], drop: Drop): Lines {
  const kept: Lines = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    if (!name.startsWith(':') && !drop(nameOf(name), value)) kept.push([name, value]);
  }
  return kept;
}

/**
 * Reads the connection options of an answer. Malformed options are 502, since they are not the client's fault (RFC 9110
 * section 15.6.3).
 */
function answerOptions(raw: readonly string[]): ReadonlySet<string> {
  try {
    return connectionOptions(raw);
  } catch (error) {
    throw failure(502, 'The destination gave an answer that is malformed.', error);
  }
}

const NONE: ReadonlySet<string> = new Set();

function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  const found = lines(raw, 'connection');
  if (found.every((value) => value === 'keep-alive')) return NONE;
  return new Set(listMembers(found).map((name) => name.toLowerCase()));
}

/**
 * Fields that need a line for each value: Set-Cookie is not a list, and clients do not read WWW-Authenticate as a list.
 */
const APART = /^(?:set-cookie|www-authenticate)$/;

/** The gateway's spelling of fields to which it adds values itself. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['vary', 'Vary'],
  ['cache-status', 'Cache-Status'],
]);

/**
 * Groups the values of each field under its first spelling. Each group becomes one line (RFC 9110 section 5.3), since
 * node:http2 throws if a field that may appear once appears twice.
 */
export function grouped(fields: Lines): (readonly [string, string | string[]])[] {
  const all = new Map<string, [name: string, value: string | string[]]>();
  for (const [name, value] of fields) {
    const key = name.toLowerCase();
    const known = all.get(key);
    if (known === undefined) all.set(key, [OURS.get(key) ?? name, value]);
    else if (typeof known[1] === 'string') known[1] = [known[1], value];
    else known[1].push(value);
  }
  return [...all].map(([key, [name, value]]) => [
    name,
    typeof value === 'string' || APART.test(key) ? value : value.join(', '),
  ]);
}
