import { type KeyObject, sign } from 'node:crypto';

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWS in Compact Serialization (RFC 7515 section 7.1), signed with ES256 (RFC 7518 section 3.4). */
export function signEs256(header: object, payload: object, key: KeyObject): string {
  const input = `${encoded({ alg: 'ES256', ...header })}.${encoded(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
