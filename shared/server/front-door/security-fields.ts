import { isLoopback } from '#shared/http/loopback.js';
import { isForwardedScheme, type TrustedProxies } from '#shared/http/forwarded.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';

/** The fields of every answer, unless it has others: no browser guesses its type, runs anything in it or frames it. */
export const SECURITY_FIELDS: Fields = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** A year. The hosts below ours are others' (RFC 6797 section 6.1.2), and so are the lists of browsers. */
const STRICT: Fields = { 'Strict-Transport-Security': 'max-age=31536000' };

/**
 * Returns the field that tells browsers never to come in clear text (RFC 6797 section 7.1). Returns none for an origin
 * of this machine alone, or if a trusted proxy says that the request came in clear text (section 7.2).
 */
export function strictTransport(
  origin: string,
  proxies: TrustedProxies,
): (request: AnyRequest) => Fields {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'https:' || isLoopback(hostname)) return () => ({});
  return ({ headers, socket }) => {
    const clear = isForwardedScheme(headers['x-forwarded-proto'], 'http');
    return clear && proxies.has(socket.remoteAddress ?? '') ? {} : STRICT;
  };
}
