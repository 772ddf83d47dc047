/**
 * Server names (RFC 9577 section 2.1.1.1): the authority of an https URI without userinfo, in lower case,
 * with the port unless it is 443.
 */

/** Matches ASCII without a comma, which separates the names of a challenge. */
const HOST_AND_PORT = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d+)?$/i;
const HTTPS_PORT = /:443$/;

/**
 * Returns the server name of an origin. A port that http implies is written, since a name without a port implies 443.
 */
export function serverNameOf(origin: string): string {
  const { protocol, host, port } = new URL(origin);
  return protocol === 'http:' && port === '' ? `${host}:80` : host;
}

/** Returns the origin at which a server of that name is found. */
export function originOfServer(name: string): string {
  return `https://${name}`;
}

/**
 * Returns the canonical spelling of a name that came in any letter case or with port 443; undefined if the text is no
 * server name.
 */
export function canonicalServerName(text: string): string | undefined {
  if (!HOST_AND_PORT.test(text)) return undefined;
  const name = text.toLowerCase().replace(HTTPS_PORT, '');
  return URL.parse(originOfServer(name))?.host === name ? name : undefined;
}

export function isServerName(text: string): boolean {
  return canonicalServerName(text) === text;
}
