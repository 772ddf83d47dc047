/**
 * Returns the CSP source (CSP Level 3 section 2.3.1) that allows a page to show a picture: its address without the
 * query, or only the scheme if that is not http or https. An IPv6 address gives the scheme, too, since CSP supports
 * none. Returns undefined for an address without a source, such as a host name with `;`: the picture is then not
 * shown, and the name does not get into the policy.
 */
export function cspSource(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, origin, hostname, pathname } = new URL(address);
  if (!/^https?:$/.test(protocol) || hostname.startsWith('[')) return protocol;
  if (!/^[a-z0-9._-]+$/.test(hostname)) return undefined;
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}
