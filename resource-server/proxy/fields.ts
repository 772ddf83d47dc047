import type { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { BadRequest, lines, listMembers } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import { maxForwards } from '../max-forwards.ts';
import { failure } from './failure.ts';
import type { ProxyTarget } from './target.ts';

/** Field lines as [name, value], in order. */
export type Lines = [name: string, value: string][];

/** For one connection (RFC 9110 section 7.6.1), or for this proxy alone (section 11.7). */
const HOP_BY_HOP = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/**
 * What a proxy in front of a server says of its client. An origin near us may believe our address,
 * and this proxy vouches for nothing that its clients say (RFC 7239 section 8.1, RFC 9729 section 6).
 */
const VOUCHED = /^(?:forwarded|x-forwarded-.+|x-real-ip|concealed-auth-export)$/;

/** Written anew, from what was parsed. */
const REWRITTEN = ['host', 'content-length', 'trailer', 'cookie'];

const NOT_FORWARDED = new Set([...HOP_BY_HOP, ...REWRITTEN]);
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'content-length', 'trailer']);

/**
 * For all recipients, so that no sender may name them in Connection (RFC 9110 section 7.6.1). One that
 * does wants us to take away what the next server decides by.
 */
const END_TO_END =
  /^(?:authorization|cache-control|content-.+|cookie|date|dpop|expect|host|if-.+|max-forwards|origin|range|sec-.+|via|x-api-key)$/;

/** Never in a trailer: framing, routing, and what a server reads before the content (RFC 9110 section 6.5.1). */
const NOT_IN_TRAILERS =
  /^(?:authorization|authentication-info|cache-control|content-.+|cookie|expect|host|max-forwards|range|set-cookie|trailer|via|www-authenticate)$/;

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

/**
 * The field lines that go on with a request; `pseudonym` is this proxy's in Via (RFC 9110 section
 * 7.6.3). Throws BadRequest when Connection names a field that is for all recipients.
 */
export function requestLines(request: AnyRequest, target: ProxyTarget, pseudonym: string): Lines {
  const { method, rawHeaders, httpVersion } = request;
  const named = connectionOptions(rawHeaders);
  const stolen = [...named].find((name) => END_TO_END.test(name));
  if (stolen !== undefined) throw new BadRequest(`Connection must not name ${stolen}.`);

  const framing = framingOf(request);
  const hops = maxForwards(request);
  const kept = endToEnd(
    rawHeaders,
    (name) =>
      NOT_FORWARDED.has(name) ||
      VOUCHED.test(name) ||
      named.has(name) ||
      (name === 'max-forwards' && hops !== undefined),
  );
  const written: Lines = [['Host', target.authority], ...kept, ...framingLines(framing, method)];
  const cookies = lines(rawHeaders, 'cookie');
  // HTTP/2 may split it (RFC 9113 section 8.2.3).
  if (cookies.length > 0) written.push(['Cookie', cookies.join('; ')]);
  if (hops !== undefined) written.push(['Max-Forwards', String(hops - 1)]);
  const [trailer] = lines(rawHeaders, 'trailer');
  if (framing === 'chunked' && trailer !== undefined) written.push(['Trailer', trailer]);
  const trailers = lines(rawHeaders, 'te').flatMap(listMembers).includes('trailers');
  if (trailers) written.push(['TE', 'trailers']);
  written.push(['Via', `${httpVersion} ${pseudonym}`]);
  written.push(['Connection', trailers ? 'close, TE' : 'close']);
  return written;
}

/** Methods whose requests mean nothing by a length of zero (RFC 9110 section 8.6). */
const NO_CONTENT = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

function framingLines(framing: Framing, method = ''): Lines {
  if (framing === 'chunked') return [['Transfer-Encoding', 'chunked']];
  if (framing !== undefined) return [['Content-Length', framing]];
  return NO_CONTENT.has(method) ? [] : [['Content-Length', '0']];
}

/**
 * The field lines of an answer, final or interim, that go back, without those of its framing. Throws
 * HttpError 502 for a malformed Connection.
 */
export function answerLines(
  { rawHeaders, httpVersion }: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>,
  pseudonym: string,
): Lines {
  const named = answerOptions(rawHeaders);
  const kept = endToEnd(rawHeaders, (name) => NOT_RETURNED.has(name) || named.has(name));
  return [...kept, ['Via', `${httpVersion} ${pseudonym}`]];
}

/** The trailer fields that go on. */
export function trailerLines({ rawHeaders, rawTrailers }: AnyRequest): Lines {
  const named = connectionOptions(rawHeaders);
  return endToEnd(
    rawTrailers,
    (name) =>
      NOT_FORWARDED.has(name) ||
      NOT_IN_TRAILERS.test(name) ||
      VOUCHED.test(name) ||
      named.has(name),
  );
}

/** Without pseudo-header fields. A name with `_` counts as the one with `-` that CGI takes it for. */
function endToEnd(raw: readonly string[], drop: (name: string) => boolean): Lines {
  const kept: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    const canonical = name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
    if (!name.startsWith(':') && !drop(canonical)) kept.push([name, value]);
  }
  return kept;
}

/** What is malformed in an answer is not the client's fault (RFC 9110 section 15.6.3). */
function answerOptions(raw: readonly string[]): ReadonlySet<string> {
  try {
    return connectionOptions(raw);
  } catch (error) {
    throw failure(502, 'The destination gave an answer that is malformed.', error);
  }
}

function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  return new Set(
    lines(raw, 'connection')
      .flatMap(listMembers)
      .map((name) => name.toLowerCase()),
  );
}
