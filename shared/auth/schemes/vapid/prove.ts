import { createPublicKey, type KeyObject, sign } from 'node:crypto';

export interface VapidProof {
  /** A private key of P-256. */
  readonly key: KeyObject;
  /** The origin of the push resource. */
  readonly audience: string;
  /** Seconds since the epoch; at most 24 hours ahead. */
  readonly expires: number;
  /** A URL at which the sender can be contacted: `mailto:` or `https:` (RFC 8292 section 2.1). */
  readonly subject?: string;
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns the value of Authorization by which an application server identifies itself (RFC 8292 section 3). */
export function vapidAuthorization({ key, audience, expires, subject }: VapidProof): string {
  const claims = { aud: audience, exp: expires, ...(subject !== undefined && { sub: subject }) };
  const input = `${encoded({ typ: 'JWT', alg: 'ES256' })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${input}.${signature.toString('base64url')}, k=${vapidKey(key)}`;
}

/** Returns the public key in the format of `k` and of the subscription's options (section 3.2). */
export function vapidKey(key: KeyObject): string {
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  const coordinates = [x, y].map((one) => Buffer.from(one, 'base64url'));
  return Buffer.concat([Buffer.of(0x04), ...coordinates]).toString('base64url');
}
