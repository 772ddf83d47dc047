/** A component of a name or a realm; what Kerberos would have to escape is not taken. */
const PART = String.raw`[^\s/@\\\p{C}]+`;

const PRINCIPAL = new RegExp(`^${PART}(?:/${PART})?@${PART}$`, 'u');

/** Whether this names a principal with its realm (RFC 4120 section 6): `primary[/instance]@REALM`. */
export function isKerberosPrincipal(text: string): boolean {
  return text.length <= 255 && PRINCIPAL.test(text);
}
