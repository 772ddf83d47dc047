import type { Words } from '#shared/refusals/words.ts';
import { said } from '#shared/refusals/operations.ts';
/** The loopback hosts in the engine's list, whose ports are free for native clients (RFC 8252 section 7.3). */
const LOOPBACKS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The schemes that may receive a code, and their conditions; any other scheme belongs to a native application. */
const SCHEMES: Readonly<Record<string, (url: URL, native: boolean) => boolean>> = {
  'https:': ({ hostname }, native) => !native || !LOOPBACKS.has(hostname),
  'http:': ({ hostname }) => LOOPBACKS.has(hostname),
};

/** True for a private-use URI scheme: a domain name in reverse (RFC 8252 section 7.1). */
const privateUse = ({ protocol }: URL, native: boolean) => native && protocol.includes('.');

/**
 * Returns the mistake in a redirect URI (RFC 6749 section 3.1.2, RFC 8252 section 7), or undefined. Only its normal
 * form is accepted, since URIs are compared exactly.
 */
export function redirectUriMistake(uri: string, native: boolean): Words | undefined {
  const url = URL.parse(uri);
  if (url === null) return said('uri-relative');
  if (uri.includes('#')) return said('uri-fragment');
  if (url.username !== '' || url.password !== '') return said('uri-user');
  if (url.href !== uri && url.href !== `${uri}/`) return said('uri-form', { form: url.href });
  if ((SCHEMES[url.protocol] ?? privateUse)(url, native)) return undefined;
  return said(native ? 'uri-native' : 'uri-scheme');
}
