import type { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { isHost } from '#shared/http/host.ts';
import type { AnyRequest } from './message.ts';

/** Fields that decide who is addressed, who asks and where the message ends: one line each. */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'host',
  'proxy-authorization',
  'transfer-encoding',
]);

/**
 * Why the request can be read in more than one way, in words for the client; undefined when it
 * cannot. The answer is 400 before anything else is looked at. That Host differs from the authority
 * of an absolute-form target is no ambiguity: the target wins (RFC 9112 section 3.2.2).
 */
export function ambiguous(request: AnyRequest): string | undefined {
  const { rawHeaders } = request;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (SINGLE.has(name)) {
      if (seen.has(name)) return `The field ${name} may be sent once only.`;
      seen.add(name);
    } else if (/[^a-z0-9-]/.test(name) && SINGLE.has(name.replaceAll(/[^a-z0-9-]/g, '-'))) {
      // CGI and its heirs read `Content_Length` as `Content-Length`; we would not.
      return `The field ${name} is too easily taken for another; spell it with hyphens.`;
    }
  }
  return request instanceof Http2ServerRequest ? inHttp2(request) : inHttp1(request);
}

function inHttp1({ headers, httpVersion }: IncomingMessage): string | undefined {
  if (headers.host === undefined ? httpVersion === '1.1' : !isHost(headers.host)) {
    return 'One Host field with a valid host is needed.'; // RFC 9112 section 3.2
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && httpVersion === '1.0') {
    return 'HTTP/1.0 has no Transfer-Encoding.'; // RFC 9112 section 6.1
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return 'The only transfer coding here is chunked.'; // RFC 9112 section 6.1
  }
  return undefined;
}

/** What nghttp2 leaves to us: it refuses fields of connections, and lengths that are wrong (RFC 9113 section 8.1.1). */
function inHttp2({ headers, rawHeaders }: Http2ServerRequest): string | undefined {
  const { ':scheme': scheme, ':path': path, host } = headers;
  const authority = headers[':authority'] ?? host;
  if (!authority || !isHost(authority)) {
    return 'One :authority with a valid host is needed.'; // RFC 9113 section 8.3.1
  }
  if (host !== undefined && normal(host, scheme) !== normal(authority, scheme)) {
    return 'Host differs from :authority.'; // RFC 9113 section 8.3.1
  }
  if (path !== undefined && path !== '*' && !path.startsWith('/')) {
    return 'A :path begins with a slash.'; // RFC 9113 section 8.3.1
  }
  const padded = rawHeaders.some((text, index) => index % 2 === 1 && /^[ \t]|[ \t]$/.test(text));
  return padded ? 'No field begins or ends with a space.' : undefined; // RFC 9113 section 8.2.1
}

/** Without what two spellings of one authority may differ in (RFC 3986 section 6.2.3). */
function normal(authority: string, scheme: string | undefined): string {
  return authority.toLowerCase().replace(scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/, '');
}
