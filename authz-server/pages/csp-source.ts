/**
 * The CSP source (CSP Level 3 section 2.3.1) that lets a form lead to a redirect URI: its origin, or
 * its scheme where it is of an application's own. CSP knows no IPv6 addresses, so for one it is the
 * scheme as well. Undefined for what has no source, such as a host name with `;`: the form does not
 * get there, but neither does the name get into the policy.
 */
export function cspSource(redirectUri: string): string | undefined {
  if (!URL.canParse(redirectUri)) return undefined;
  const { protocol, origin, hostname } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol) || hostname.startsWith('[')) return protocol;
  return /^[a-z0-9._-]+$/.test(hostname) ? origin : undefined;
}
