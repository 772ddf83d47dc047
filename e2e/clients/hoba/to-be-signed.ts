/** The signed octets, and the sent part (RFC 7486 section 2). */

/** One character of each string is one octet, as in a field. */
export interface ToBeSigned {
  readonly nonce: string;
  /** An algorithm number of section 9.3. */
  readonly alg: string;
  /** The origin, always with its port. */
  readonly origin: string;
  /** Empty if the challenge has no realm. */
  readonly realm: string;
  readonly kid: string;
  readonly challenge: string;
}

/** HOBA-TBS: lengths count octets, and the fields have no separator. */
export function encodeToBeSigned(fields: ToBeSigned): Buffer {
  const { nonce, alg, origin, realm, kid, challenge } = fields;
  const all = [nonce, alg, origin, realm, kid, challenge];
  return Buffer.from(all.map((field) => `${field.length}:${field}`).join(''), 'latin1');
}

/** HOBA-RES. The server must know the remaining signed fields. */
export function encodeResult({ kid, challenge, nonce }: ToBeSigned, signature: Buffer): string {
  return [kid, challenge, nonce, signature.toString('base64url')].join('.');
}

/** Returns a URL's origin as it is signed: "there is no default for the port number". */
export function originOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname}:${port || { 'http:': 80, 'https:': 443 }[protocol]}`;
}
