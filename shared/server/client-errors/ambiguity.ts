import type { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { remembering } from '#shared/base/recent-map.ts';
import { plainMembers } from '#shared/http/fields.ts';
import { isHost } from '#shared/http/host.ts';
import type { AnyRequest } from '../message/message.ts';
import type { ConnectionError } from '../message/connection-error.ts';

/** Fields that decide who is addressed, who asks and where the message ends: one line each. */
const SINGLE = [
  'authorization',
  'content-length',
  'host',
  'proxy-authorization',
  'transfer-encoding',
];
/** The same names, by their letters without the characters between words. */
const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  SINGLE.map((name) => [lettersOf(name), name]),
);

/**
 * Returns the error for a request that can be read in more than one way, or undefined. The server looks at nothing
 * else of such a request. Over HTTP/1.1 nothing after it is a request, since nobody knows where it ends (RFC 9112
 * section 6.1). A Host that differs from the authority of an absolute-form target is no ambiguity: the target wins
 * (section 3.2.2).
 */
export function ambiguous(request: AnyRequest): ConnectionError | undefined {
  const { rawHeaders } = request;
  /** The bits of those that have been: a set for each request would cost ten times as much. */
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { name, meant, bit } = reading(rawHeaders[index] ?? '');
    if (meant === undefined) continue;
    // CGI and its heirs read `Content_Length` as `Content-Length`, and others forgive more; we would not.
    if (meant !== name) return malformed(`The field ${name} is too easily taken for ${meant}.`);
    if ((seen & bit) !== 0) return malformed(`The field ${name} may be sent once only.`);
    seen |= bit;
  }
  return request instanceof Http2ServerRequest ? inHttp2(request) : inHttp1(request);
}

function lettersOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]/g, '');
}

/** A name as it was sent: in lower case, and the field that it is or could be taken for, with a bit of its own. */
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

/** A whole URL, which names the host in place of Host (RFC 9112 section 3.2.2). */
const ABSOLUTE = /^https?:/i;

function inHttp1({ headers, httpVersion, url = '' }: IncomingMessage): ConnectionError | undefined {
  const { host } = headers;
  const isNeeded = host === '' ? !ABSOLUTE.test(url) : httpVersion === '1.1';
  // RFC 9112 section 3.2; of http and https it is not empty (RFC 9110 section 4.2.1).
  if (host ? !isValidHost(host) : isNeeded) {
    return malformed('One Host field with a valid host is needed.');
  }
  const codings = headers['transfer-encoding'];
  return codings === undefined ? undefined : inCodings(codings.toLowerCase(), httpVersion);
}

/** RFC 9112 section 6.1. That `chunked` is the last one, node:http has seen to. */
function inCodings(codings: string, httpVersion: string): ConnectionError | undefined {
  if (httpVersion === '1.0') return malformed('HTTP/1.0 has no Transfer-Encoding.');
  if (codings === 'chunked') return undefined;
  const members = plainMembers(codings);
  if (members.length === 0 || members.indexOf('chunked') !== members.length - 1) {
    return malformed('The transfer coding chunked comes once, as the last one.');
  }
  return { status: 501, detail: 'The only transfer coding here is chunked.' };
}

/** The checks that nghttp2 leaves to us. It refuses fields of connections and wrong lengths itself (RFC 9113 section 8.1.1). */
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

/** Without what two spellings of one authority may differ in (RFC 3986 section 6.2.3). */
function normal(authority: string, scheme: string | undefined): string {
  return authority.toLowerCase().replace(scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/, '');
}
