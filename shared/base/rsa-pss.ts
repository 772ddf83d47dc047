import { constants, type KeyObject, verify } from 'node:crypto';

/** A public key of type `rsa`, with the parameters of its signatures. */
export interface PssKey {
  readonly key: KeyObject;
  /** Named as in `node:crypto`; MGF1 uses it, too. */
  readonly hash: string;
  /** Octets. */
  readonly saltLength: number;
}

/**
 * RSASSA-PSS-VERIFY (RFC 8017 section 8.1.2). Step 1 is done here, because OpenSSL also accepts a signature without
 * its leading zero octets. Then one signature in 256 would have two forms.
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
