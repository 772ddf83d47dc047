import { createPublicKey, type KeyObject } from 'node:crypto';
import { keyIdOf } from '#shared/jose/key-fingerprint.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Proof } from './credentials.ts';
import type { SignatureScheme } from './signature-schemes.ts';

/** Longest `a` in bytes, more than any accepted key has. */
const LONGEST = 1100;

/** A key that a client sends, and the id under which it would be stored. */
export interface ClaimedKey {
  readonly key: KeyObject;
  readonly spki: string;
  readonly id: string;
}

/**
 * Reads the key in `a` again for each request: a remembered key would take less time, which would reveal that it was
 * used before. Returns undefined if it is not a key for the scheme.
 */
export function claimedKey(scheme: SignatureScheme, encoded: Buffer): ClaimedKey | undefined {
  if (encoded.length > LONGEST) return undefined;
  const spki = scheme.spki(encoded);
  const key = imported(spki);
  if (key === undefined || !scheme.fits(key)) return undefined;
  return { key, spki: spki.toString('base64url'), id: keyIdOf(spki) };
}

/** Returns the key in `a`, or the reason if it is not a key for the scheme. */
export const keyOf = (scheme: SignatureScheme, { publicKey }: Proof): ClaimedKey | Refusal =>
  claimedKey(scheme, publicKey) ?? refuse('concealed-a');

/** Returns the reason if `k` is not the id of the key in `a`. */
export const refusalOfId = ({ id }: ClaimedKey, { keyId }: Proof): Refusal | undefined =>
  sameText(id, keyId.toString('base64url')) ? undefined : refuse('concealed-k');

function imported(spki: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
