import { createECDH, type ECDH, randomBytes } from 'node:crypto';

/** A user agent's keys for one subscription (RFC 8291 section 2). */
export interface ReceiverKeys {
  readonly ecdh: ECDH;
  /** The authentication secret of 16 octets, which the application server knows, too (section 3.2). */
  readonly auth: Buffer;
}

export function newReceiverKeys(): ReceiverKeys {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return { ecdh, auth: randomBytes(16) };
}

/** The keys as the Push API gives them to an application for its server. */
export const sharedKeys = ({ ecdh, auth }: ReceiverKeys) => ({
  p256dh: ecdh.getPublicKey('base64url'),
  auth: auth.toString('base64url'),
});
