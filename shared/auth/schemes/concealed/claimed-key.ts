import { createPublicKey, type KeyObject } from 'node:crypto';
import { keyIdOf } from '#shared/people/public-key.ts';
import type { SignatureScheme } from './signature-schemes.ts';

/** Bytes of `a`: more than any key that is taken has. */
const LONGEST = 1100;

/** A key that somebody shows, and under what it would be known. */
export interface ClaimedKey {
  readonly key: KeyObject;
  readonly spki: string;
  readonly id: string;
}

/**
 * What `a` says. Read anew each time: a key that is remembered would take less time, which tells that somebody has
 * used it. Undefined: it is no key for the scheme.
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
