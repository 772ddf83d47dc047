/** Matches a component of a name or a realm, without characters that Kerberos would have to escape. */
const PART = String.raw`[^\s/@\\\p{C}]+`;

const PRINCIPAL = new RegExp(`^${PART}(?:/${PART})?@${PART}$`, 'u');

/** True if the text names a principal with its realm (RFC 4120 section 6): `primary[/instance]@REALM`. */
export function isKerberosPrincipal(text: string): boolean {
  return text.length <= 255 && PRINCIPAL.test(text);
}
