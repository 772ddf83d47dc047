import { constants, type KeyObject, verify } from 'node:crypto';

/** A public key of type `rsa`, and what its signatures are made with. */
export interface PssKey {
  readonly key: KeyObject;
  /** Named as in `node:crypto`; MGF1 uses it, too. */
  readonly hash: string;
  /** Octets. */
  readonly saltLength: number;
}

/**
 * RSASSA-PSS-VERIFY (RFC 8017 section 8.1.2). Step 1 is ours: OpenSSL also takes a signature whose leading zero octets
 * were left out, so that one in 256 could be written in two ways.
 */
export function verifyPss(
  { key, hash, saltLength }: PssKey,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (signature.length !== Math.ceil(modulusLength / 8)) return false;
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify(hash, message, { key, padding, saltLength }, signature);
}
