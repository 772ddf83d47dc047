import { createPublicKey, verify } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { importedKey } from '#shared/people/public-key.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Proofs } from '#shared/stores/authentication/proofs.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import type { AuthRequest, Verdict } from '../../scheme.ts';
import type { Challenges } from './challenges.ts';
import { parseResult, unpadded } from './result.ts';
import { LONGEST } from './settings.ts';
import { toBeSigned } from './to-be-signed.ts';

export interface SignaturesOptions {
  readonly challenges: Challenges;
  readonly proofs: Proofs;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly random: Random;
}

export type Refused = Extract<Verdict, { kind: 'refused' | 'unavailable' }>;

/** The members of a key that verification needs. */
export type Verifying = Pick<PublicKeyRecord, 'scheme' | 'origin' | 'spki' | 'signed_out_at'>;

/** The key that signed, or the reason of the refusal. */
export type Signer<Key> = { readonly kind: 'signed'; readonly key: Key } | Refused;

/** The data that a signature is checked against. */
export interface Against<Key> {
  /** Seconds for which the challenge is valid; with 0 it is valid for one signature. */
  readonly maxAge: number;
  readonly find: (kid: string) => Promise<Key | undefined>;
}

export interface Signatures {
  signer<Key extends Verifying>(
    params: AuthParams,
    request: AuthRequest,
    against: Against<Key>,
  ): Promise<Signer<Key>>;
}

/** Seconds for which a challenge for one signature is valid. */
const SINGLE = 60;
/** Seconds by which the clock of the process that issued a challenge may be ahead. */
const AHEAD = 60;

/** True if the key is accepted at the request's origin. */
const isFor = (key: Verifying | undefined, origin: string) =>
  key?.scheme === 'HOBA' && key.origin === origin;

/**
 * Verifies signatures (RFC 7486 section 3), with the algorithm of the stored key. For an unknown key it verifies with
 * a decoy, so that the time does not show whether the key exists.
 */
export function createSignatures(options: SignaturesOptions): Signatures {
  const { challenges, proofs, attempts, clock, random } = options;
  const decoy = decoyKey(random);
  /**
   * True at the first use of a signature. Each use is remembered as long as any space of the origin accepts the
   * challenge.
   */
  const isFirst = async (what: string, made: number) =>
    (await proofs.spend('hoba', what, { made, seconds: LONGEST + AHEAD })) === 'first';

  return {
    async signer(params, request, { maxAge, find }) {
      const { origin, peer } = request;
      if (!isSameHost(request)) return { kind: 'refused', ...refuse('hoba-host') };
      const result = parseResult(params['result'] ?? '');
      if (result === undefined) return { kind: 'refused', ...refuse('hoba-form') };
      const { challenge, nonce, signature } = result;
      const made = challenges.madeAt(challenge, origin);
      if (made === undefined) return { kind: 'refused', ...refuse('hoba-challenge') };
      const life = maxAge || SINGLE;
      const age = (clock.now() - made) / 1000;
      if (age > life || age < -AHEAD) return { kind: 'refused', ...refuse('hoba-old') };
      const kid = unpadded(result.kid);
      const tooMany = await attempts.begin(kid, peer.address);
      if (tooMany !== undefined) return tooMany;
      const found = await find(kid);
      const key = isFor(found, origin) ? found : undefined;
      const signed = toBeSigned({ ...result, origin });
      const right = verify('sha256', signed, importedKey(key?.spki ?? decoy), signature);
      if (key === undefined || !right) {
        attempts.failed(kid, peer.address);
        return { kind: 'refused', ...refuse('hoba-signature') };
      }
      attempts.succeeded(kid, peer.address);
      if (made <= (key.signed_out_at ?? 0))
        return { kind: 'refused', ...refuse('hoba-signed-out') };
      // The use is stored last, so that only a holder of the key can use up its signatures.
      const once = `${kid} ${challenge} ${nonce}`;
      const fresh = (await isFirst(once, made)) && (maxAge > 0 || (await isFirst(challenge, made)));
      return fresh ? { kind: 'signed', key } : { kind: 'refused', ...refuse('hoba-used') };
    },
  };
}

/**
 * Returns the SubjectPublicKeyInfo of a 2048-bit RSA key whose private key does not exist, encoded as keys are
 * stored.
 */
function decoyKey(random: Random): string {
  const modulus = random(256);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[255] = (modulus[255] ?? 0) | 1;
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return key.export({ type: 'spki', format: 'der' }).toString('base64url');
}

/**
 * True if the requested URL has the signed origin (RFC 7486 section 3); a trusted proxy may use another host. If the
 * target is an absolute URL, its host is compared, not the Host field (RFC 9112 section 3.2.2).
 */
export function isSameHost({ origin, target, peer, field }: AuthRequest): boolean {
  if (peer.trusted) return true;
  const [, whole] = /^https:\/\/([^/?]*)/i.exec(target) ?? [];
  const asked = whole ?? field(':authority') ?? field('host') ?? '';
  return asked.toLowerCase().replace(/:443$/, '') === new URL(origin).host;
}
