/**
 * The CSP source (CSP Level 3 section 2.3.1) that lets a page show a picture: its address without the query, or its scheme
 * where that is none of the Web. CSP knows no IPv6 addresses, so for one it is the scheme as well. Undefined for what has
 * no source, such as a host name with `;`: the picture is not shown, but neither does the name get into the policy.
 */
export function cspSource(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, origin, hostname, pathname } = new URL(address);
  if (!/^https?:$/.test(protocol) || hostname.startsWith('[')) return protocol;
  if (!/^[a-z0-9._-]+$/.test(hostname)) return undefined;
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}
