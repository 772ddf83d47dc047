import type { Clock } from '#shared/base/clock.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import type { Directory } from '#shared/people/directory.ts';
import { isKeyEnough } from '#shared/people/second-factor/key-enough.ts';
import type { SecondFactorRule } from '#shared/people/second-factor/need.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { noteUse } from '../../credentials/note-use.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Grounds, Scheme } from '../../scheme.ts';
import type { Challenges } from './challenges.ts';
import type { Signatures } from './signatures.ts';

export interface HobaOptions {
  readonly realm: string;
  /** Seconds for which signatures over one challenge are accepted; with 0 a challenge is valid for one signature. */
  readonly maxAge: number;
  readonly challenges: Challenges;
  readonly signatures: Signatures;
  readonly publicKeys: Pick<PublicKeys, 'get' | 'touch'>;
  readonly directory: Pick<Directory, 'find'>;
  readonly secondFactor: SecondFactorRule;
  readonly secondFactors: Pick<SecondFactors, 'get'>;
  readonly clock: Clock;
}

/**
 * Returns the challenge. Both of its attributes are required (RFC 7486 section 3). It has no realm, since a key is
 * for the whole origin.
 */
export function hobaChallenge(challenge: string, maxAge: number): Challenge {
  return { scheme: 'HOBA', params: { challenge, 'max-age': String(maxAge) } };
}

/** True if the connection is confidential and the origin is https, since the client signs the origin. */
export const isSecure = ({ origin, confidential }: AuthRequest) =>
  confidential && origin.startsWith('https:');

/** Makes the HOBA scheme (RFC 7486): a signature with a key that is bound to the origin, in place of a password. */
export function hoba(options: HobaOptions): Scheme {
  const { realm, maxAge, challenges, signatures, publicKeys, directory, clock } = options;
  const { secondFactor: rule, secondFactors } = options;
  const find = (kid: string) => publicKeys.get(kid);

  /** Returns grounds that end when the key is removed, or when its client logs out (RFC 7486 section 6.3). */
  function groundsOf({ id, signed_out_at: before }: PublicKeyRecord): Grounds {
    return {
      of: `key of HOBA ${id}${before === undefined ? '' : `@${before}`}`,
      async end() {
        const key = await publicKeys.get(id);
        return key !== undefined && key.signed_out_at === before ? undefined : 'revoked';
      },
    };
  }

  return {
    name: 'HOBA',

    challenge: (request) =>
      isSecure(request) ? [hobaChallenge(challenges.issue(request.origin), maxAge)] : [],

    needs: (request) =>
      isSecure(request) ? undefined : 'HOBA is not taken in clear text: use https.',

    async authenticate({ params = {} }, request) {
      if (!isSecure(request)) return { kind: 'refused', ...refuse('hoba-clear-text') };
      const signer = await signatures.signer(params, request, { maxAge, find });
      if (signer.kind !== 'signed') return signer;
      const { key } = signer;
      const { owner } = key;
      const person = owner.kind === 'person' ? await directory.find(owner.id) : undefined;
      if (person === undefined) return { kind: 'refused', ...refuse('hoba-no-owner') };
      if (!(await isKeyEnough(rule, secondFactors, person, key)))
        return { kind: 'refused', ...refuseSpace('old-key') };
      noteUse(publicKeys, key, clock.now());
      return {
        kind: 'granted',
        principal: personPrincipal(realm, person),
        grounds: groundsOf(key),
      };
    },
  };
}
