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
  const { rawHeaders, headers, httpVersion } = request;
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
