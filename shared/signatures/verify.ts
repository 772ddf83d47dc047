import type { KeyObject } from 'node:crypto';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import { REGISTERED } from './algorithms.ts';
import { BadSignature, type SignedMessage } from './message.ts';
import { checkPolicy, type Policy, signatureFor } from './policy.ts';
import { signatureBase } from './signature-base.ts';
import { type LabelledSignature, readSignatures } from './signature-fields.ts';

/** A signature that meets the policy, with the octets that it must cover. Its key was not used yet. */
export interface Claimed extends LabelledSignature {
  /** The signature base. A replay has the same base and key, even if its signature has other octets (ECDSA). */
  readonly base: string;
}

export interface VerifyingKey {
  readonly algorithm: JwsAlgorithm;
  /** A public key that fits the algorithm. */
  readonly key: KeyObject;
}

/**
 * Reads the signature that the policy selects, without verifying it (RFC 9421 section 3.2, steps 1 to 4 and 7), so
 * that the caller can find the key by `keyid`. Throws `BadSignature`. `now`: seconds since the epoch.
 */
export function claimedSignature(message: SignedMessage, policy: Policy, now: number): Claimed {
  const signature = signatureFor(readSignatures(message), policy);
  checkPolicy(signature, policy, now);
  const { identifiers, params } = signature;
  return { ...signature, base: signatureBase(identifiers, params, message) };
}

/** Throws `BadSignature` unless the signature was made with the key (section 3.2, steps 6 and 8). */
export function verifySignature(claimed: Claimed, { algorithm, key }: VerifyingKey): void {
  const alg = claimed.params.get('alg')?.value;
  if (alg !== undefined && !REGISTERED.get(String(alg))?.includes(algorithm.alg)) {
    throw new BadSignature(refuse('signature-alg', { alg: String(alg) }));
  }
  if (!algorithm.fits(key)) throw new BadSignature(refuse('signature-key'));
  if (!algorithm.verify(Buffer.from(claimed.base, 'latin1'), key, claimed.signature)) {
    throw new BadSignature(refuse('signature-wrong'));
  }
}
