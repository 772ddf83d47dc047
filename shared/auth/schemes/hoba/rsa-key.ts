import { createHash, createPublicKey } from 'node:crypto';

/** A public key as it is kept. */
export interface RsaKey {
  /** SHA-256 of the DER of SubjectPublicKeyInfo (RFC 7486 section 9.4, kidtype 0). */
  readonly id: string;
  readonly spki: string;
}

/** Whitespace of a form, and base64 that is base64url in the RFC's own example. */
const PEM = /^\s*-----BEGIN PUBLIC KEY-----([\w\s+/=-]{1,2000}?)-----END PUBLIC KEY-----\s*$/;

/** Bits: fewer can be factored, more take long to verify (RFC 7486 section 7). */
const BITS = { least: 2048, most: 4096 };

/** Undefined for what is no RSA key in PEM that is worth taking. */
export function rsaKey(pem: string): RsaKey | undefined {
  const [, body] = PEM.exec(pem) ?? [];
  if (body === undefined) return undefined;
  try {
    const key = createPublicKey({ key: Buffer.from(body, 'base64'), format: 'der', type: 'spki' });
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    const strong = modulusLength >= BITS.least && modulusLength <= BITS.most;
    if (key.asymmetricKeyType !== 'rsa' || !strong || publicExponent < 3n) return undefined;
    const spki = key.export({ type: 'spki', format: 'der' });
    return {
      id: createHash('sha256').update(spki).digest('base64url'),
      spki: spki.toString('base64url'),
    };
  } catch {
    return undefined;
  }
}
