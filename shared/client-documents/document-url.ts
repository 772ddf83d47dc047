import { isIP } from 'node:net';

/** Most characters; people are shown the host, and every row about the client has the whole URL. */
const LONGEST = 512;

/**
 * Returns whether a client identifier is the URL of a Client ID Metadata Document (draft section 3): `https`, a path,
 * and no user, fragment, query or dot segments. Only one spelling is accepted: as URL parsers write it, with a name
 * instead of an address, except loopback. A name with a final dot is refused, since it would be another client of the
 * same host with limits of its own.
 */
export function isDocumentUrl(clientId: string): boolean {
  if (!clientId.startsWith('https://') || clientId.length > LONGEST) return false;
  const url = URL.parse(clientId);
  // A parser removes dot segments, even with %2e, so the text then differs.
  if (url === null || url.href !== clientId || url.pathname === '/') return false;
  if (url.username || url.password || /[?#@\\]/.test(clientId)) return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host.endsWith('.')) return false;
  return isIP(host) === 0 || host === '127.0.0.1' || host === '::1';
}
