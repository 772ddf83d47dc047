/** The scheme and authority of an http URI without user, whose port has no zero before it, and all that follows. */
const PARTS = /^(https?:\/\/(?:[\w.~-]+|\[[\da-f:.]+\])(?::(?:[1-9]\d*)?)?)((?:[/?#].*)?)$/is;

/**
 * Returns the form in which names of a resource are compared: scheme and host in small letters, without the default port
 * (RFC 3986 sections 6.2.2.1 and 6.2.3), and without a slash at the end, by which no two spaces differ.
 */
export function comparable(resource: string): string {
  const [, authority = '', rest = ''] = PARTS.exec(resource) ?? [];
  const origin = URL.parse(authority)?.origin;
  const name = origin === undefined ? resource : origin + rest;
  return name.endsWith('/') ? name.slice(0, -1) : name;
}
