/**
 * The CSP source (CSP Level 3 section 2.3.1) that lets a form lead to a redirect URI: the URI without
 * its query, or its scheme where that is of an application's own. CSP knows no IPv6 addresses, so for
 * one it is the scheme as well. Undefined for what has no source, such as a host name with `;`: the form does not
 * get there, but neither does the name get into the policy.
 */
export function cspSource(redirectUri: string): string | undefined {
  if (!URL.canParse(redirectUri)) return undefined;
  const { protocol, origin, hostname, pathname } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol) || hostname.startsWith('[')) return protocol;
  if (!/^[a-z0-9._-]+$/.test(hostname)) return undefined;
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}
