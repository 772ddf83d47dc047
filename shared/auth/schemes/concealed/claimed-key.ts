import { createPublicKey, type KeyObject } from 'node:crypto';
import { keyIdOf } from '#shared/jose/key-fingerprint.ts';
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

function imported(spki: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
