import type { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { remembering } from '#shared/base/recent-map.ts';
import { plainMembers } from '#shared/http/fields.ts';
import { isHost } from '#shared/http/host.ts';
import type { AnyRequest } from '../message/message.ts';
import type { ConnectionError } from '../message/connection-error.ts';

/** Fields that name the server or the client, or determine where the message ends: they may come only once. */
const SINGLE = [
  'authorization',
  'content-length',
  'host',
  'proxy-authorization',
  'transfer-encoding',
];
/** The same names without the characters between words, since some servers ignore those characters. */
const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  SINGLE.map((name) => [lettersOf(name), name]),
);

/**
 * Returns the error for a request that can be read in more than one way, or undefined. The server reads nothing else of
 * such a request. Over HTTP/1.1 no later octets are read as a request, since the end of this one is unknown (RFC 9112
 * section 6.1). A Host that differs from the authority of an absolute-form target is allowed, since the target has
 * priority (section 3.2.2).
 */
export function ambiguous(request: AnyRequest): ConnectionError | undefined {
  const { rawHeaders } = request;
  /** One bit for each field seen so far: a Set for each request would cost ten times as much. */
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { name, meant, bit } = reading(rawHeaders[index] ?? '');
    if (meant === undefined) continue;
    // CGI and its successors read `Content_Length` as `Content-Length`. Some servers accept more spellings, but this
    // server does not.
    if (meant !== name) return malformed(`The field ${name} is too easily taken for ${meant}.`);
    if ((seen & bit) !== 0) return malformed(`The field ${name} may be sent once only.`);
    seen |= bit;
  }
  return request instanceof Http2ServerRequest ? inHttp2(request) : inHttp1(request);
}

function lettersOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Returns for a field's name as it was sent: the name in lower case, the field for which a server could take it, and
 * its bit.
 */
const reading = remembering(
  (sent) => {
    const name = sent.toLowerCase();
    const meant = BY_LETTERS.get(lettersOf(name));
    return { name, meant, bit: meant === undefined ? 0 : 1 << SINGLE.indexOf(meant) };
  },
  { capacity: 1000, longest: 64 },
);

function malformed(detail: string): ConnectionError {
  return { status: 400, detail };
}

const isValidHost = remembering(isHost, { capacity: 1000, longest: 270 });

/** Matches an absolute URL, whose host replaces the Host field (RFC 9112 section 3.2.2). */
const ABSOLUTE = /^https?:/i;

function inHttp1({ headers, httpVersion, url = '' }: IncomingMessage): ConnectionError | undefined {
  const { host } = headers;
  const isNeeded = host === '' ? !ABSOLUTE.test(url) : httpVersion === '1.1';
  // RFC 9112 section 3.2: Host is required; for http and https it is not empty (RFC 9110 section 4.2.1).
  if (host ? !isValidHost(host) : isNeeded) {
    return malformed('One Host field with a valid host is needed.');
  }
  const codings = headers['transfer-encoding'];
  return codings === undefined ? undefined : inCodings(codings.toLowerCase(), httpVersion);
}

/** RFC 9112 section 6.1. node:http has checked that `chunked` is the last coding. */
function inCodings(codings: string, httpVersion: string): ConnectionError | undefined {
  if (httpVersion === '1.0') return malformed('HTTP/1.0 has no Transfer-Encoding.');
  if (codings === 'chunked') return undefined;
  const members = plainMembers(codings);
  if (members.length === 0 || members.indexOf('chunked') !== members.length - 1) {
    return malformed('The transfer coding chunked comes once, as the last one.');
  }
  return { status: 501, detail: 'The only transfer coding here is chunked.' };
}

/**
 * The checks that nghttp2 does not make. nghttp2 itself refuses fields of connections and wrong lengths (RFC 9113
 * section 8.1.1).
 */
function inHttp2({ headers, rawHeaders }: Http2ServerRequest): ConnectionError | undefined {
  const { ':scheme': scheme, ':path': path, host } = headers;
  const authority = headers[':authority'] ?? host;
  if (!authority || !isValidHost(authority)) {
    return malformed('One :authority with a valid host is needed.'); // RFC 9113 section 8.3.1
  }
  if (host !== undefined && normal(host, scheme) !== normal(authority, scheme)) {
    return malformed('Host differs from :authority.'); // RFC 9113 section 8.3.1
  }
  if (path !== undefined && path !== '*' && !path.startsWith('/')) {
    return malformed('A :path begins with a slash.'); // RFC 9113 section 8.3.1
  }
  const padded = rawHeaders.some((text, index) => index % 2 === 1 && /^[ \t]|[ \t]$/.test(text));
  return padded ? malformed('No field begins or ends with a space.') : undefined; // RFC 9113 section 8.2.1
}

/** Returns an authority in one spelling (RFC 3986 section 6.2.3). */
function normal(authority: string, scheme: string | undefined): string {
  return authority.toLowerCase().replace(scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/, '');
}
