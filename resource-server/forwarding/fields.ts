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

/** Whether a line does not go on. */
export type Drop = (name: Name, value: string) => boolean;

/** Methods whose requests mean nothing by a length of zero (RFC 9110 section 8.6). */
const NO_CONTENT = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** The length of the content as received, or `chunked`; undefined: there is none. */
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

/** The fields of a request that say how its content is framed. */
export function framingLines(framing: Framing, method = ''): Lines {
  if (framing === 'chunked') return [['Transfer-Encoding', 'chunked']];
  if (framing !== undefined) return [['Content-Length', framing]];
  return NO_CONTENT.has(method) ? [] : [['Content-Length', '0']];
}

/**
 * The field lines that go on with a request to whichever server, without those of its framing and connection;
 * `pseudonym`: ours in Via (RFC 9110 section 7.6.3); `drop`: what does not go on besides. Throws BadRequest when
 * Connection names a field that is for all recipients.
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
  // HTTP/2 may split it (RFC 9113 section 8.2.3).
  if (cookies.length > 0) onward.push(['Cookie', cookies.join('; ')]);
  if (hops !== undefined) onward.push(['Max-Forwards', String(hops - 1)]);
  onward.push(['Via', `${httpVersion} ${pseudonym}`]);
  return onward;
}

/** Whether the client takes trailers (RFC 9110 section 10.1.4). */
export function takesTrailers({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): boolean {
  return listMembers(lines(rawHeaders, 'te')).includes('trailers');
}

/**
 * The field lines of an answer, final or interim, that go back, without those of its framing. Throws
 * HttpError 502 for a malformed Connection.
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

/** The trailer fields of a message that go on; `drop`: which do not besides. */
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

/** Without pseudo-header fields. */
function endToEnd(raw: readonly string[], drop: Drop): Lines {
  const kept: Lines = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    const value = raw[index + 1] ?? '';
    if (!name.startsWith(':') && !drop(nameOf(name), value)) kept.push([name, value]);
  }
  return kept;
}

/** Reads the connection options of an answer. Malformed ones are 502: they are not the client's fault (RFC 9110 section 15.6.3). */
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

/** Fields of which each value has to have a line: not a list, or one that clients do not read as one. */
const APART = /^(?:set-cookie|www-authenticate)$/;

/** As we spell what we have something to say in as well. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['vary', 'Vary'],
  ['cache-status', 'Cache-Status'],
]);

/**
 * The values of each field together, under its name as it came first. They become one line (RFC 9110
 * section 5.3): node:http2 throws for two of a field that may come once.
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
