import { isLoopback } from '#shared/http/loopback.js';
import { forwardedScheme, type TrustedProxies } from '#shared/http/forwarded.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';

/** The default fields of every answer: browsers must not guess its type, run scripts in it or frame it. */
export const SECURITY_FIELDS: Fields = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * TLS is required for a year. Subdomains are not included, since they may belong to other owners (RFC 6797 section
 * 6.1.2), nor are preload lists.
 */
const STRICT: Fields = { 'Strict-Transport-Security': 'max-age=31536000' };

/**
 * Returns the field that makes browsers always use TLS (RFC 6797 section 7.1). Returns none for an origin on loopback,
 * or if a trusted proxy says that the request came in clear text (section 7.2).
 */
export function strictTransport(
  origin: string,
  proxies: TrustedProxies,
): (request: AnyRequest) => Fields {
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'https:' || isLoopback(hostname)) return () => ({});
  return ({ headers, socket }) => {
    const clear = forwardedScheme(headers['x-forwarded-proto']) === 'http';
    return clear && proxies.has(socket.remoteAddress ?? '') ? {} : STRICT;
  };
}
