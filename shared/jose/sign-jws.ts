import { type KeyObject, sign } from 'node:crypto';

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWS in Compact Serialization, signed with Ed25519 (RFC 8037 section 3.1, RFC 9864 section 2.2). */
export function signEd25519(header: object, payload: object, key: KeyObject): string {
  const input = `${encoded({ alg: 'Ed25519', ...header })}.${encoded(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

/** Returns a JWS in Compact Serialization (RFC 7515 section 7.1), signed with ES256 (RFC 7518 section 3.4). */
export function signEs256(header: object, payload: object, key: KeyObject): string {
  const input = `${encoded({ alg: 'ES256', ...header })}.${encoded(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}
