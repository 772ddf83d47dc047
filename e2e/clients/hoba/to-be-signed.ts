/** The octets that are signed, and the part that is sent (RFC 7486 section 2). */

/** One character of each string is one octet, as in a field. */
export interface ToBeSigned {
  readonly nonce: string;
  /** A number of section 9.3. */
  readonly alg: string;
  /** With its port, whatever that is. */
  readonly origin: string;
  /** Empty where the challenge names none. */
  readonly realm: string;
  readonly kid: string;
  readonly challenge: string;
}

/** HOBA-TBS: lengths are of octets; nothing stands between the fields. */
export function encodeToBeSigned(fields: ToBeSigned): Buffer {
  const { nonce, alg, origin, realm, kid, challenge } = fields;
  const all = [nonce, alg, origin, realm, kid, challenge];
  return Buffer.from(all.map((field) => `${field.length}:${field}`).join(''), 'latin1');
}

/** HOBA-RES, whose other fields the server has to know. */
export function encodeResult({ kid, challenge, nonce }: ToBeSigned, signature: Buffer): string {
  return [kid, challenge, nonce, signature.toString('base64url')].join('.');
}

/** Returns the origin of a URL, as it is signed: "there is no default for the port number". */
export function originOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname}:${port || { 'http:': 80, 'https:': 443 }[protocol]}`;
}
