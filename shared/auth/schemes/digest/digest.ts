import { sameText } from '#shared/base/constant-time.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { Verifier, Verifiers } from '#shared/people/verifiers.ts';
import { DIGEST_ALGORITHMS } from '#shared/http/auth/digest-algorithms.ts';
import type { Random } from '#shared/base/random.ts';
import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import type { Scheme, Verdict } from '../../scheme.ts';
import { createOffer, type Claim, type OfferOptions } from './offer.ts';
import { parseDigestParams } from './params.ts';
import { digestResponse, digestRspauth } from './response.ts';
import { DIGEST_KINDS } from './verifier.ts';

export interface DigestOptions extends OfferOptions {
  readonly verifiers: Pick<Verifiers, 'find'>;
  readonly useCounts: UseCounts;
  readonly attempts: Attempts;
  readonly random: Random;
}

/**
 * Digest (RFC 7616): proof of a password that does not show it, over method and target and, with
 * auth-int, the content. No answer tells whether a name exists: all that is done for a name that does,
 * the reading of the content included, is done for one that does not.
 */
export function digest(options: DigestOptions): Scheme {
  const { realm, verifiers, nonces, useCounts, attempts, random } = options;
  const offer = createOffer(options);
  /** Stands in for the HA1 of who has none; no response to it is ever taken. */
  const nobody = random(32).toString('hex');

  /** By the name exactly as it stands in A1, or by what stands in its place. */
  async function verifierOf({ algorithm, username, userhash }: Claim) {
    const { kind } = DIGEST_KINDS[DIGEST_ALGORITHMS[algorithm].hash];
    return verifiers.find(kind, realm, userhash ? { handle: username } : { name: username });
  }

  /** Authentication-Info (RFC 7616 section 3.5), for auth-int once the content of the answer is known. */
  function granted(claim: Claim, { person, value: ha1 }: Verifier): Verdict {
    const { algorithm, signed } = claim;
    const { qop, nc, cnonce } = signed;
    const nextnonce = offer.nextNonce(claim);
    const proof = (content?: Buffer) => {
      const rspauth = digestRspauth(algorithm, ha1, signed, content);
      return { info: { ...(nextnonce && { nextnonce }), qop, rspauth, cnonce, nc } };
    };
    const principal = personPrincipal(realm, person);
    return qop === 'auth'
      ? { kind: 'granted', principal, proof: proof() }
      : { kind: 'granted', principal, seal: { hash: DIGEST_ALGORITHMS[algorithm].crypto, proof } };
  }

  return {
    name: 'Digest',
    ambient: true,

    challenge: (request) => offer.challenges(request),

    async authenticate(credentials, request) {
      const params = parseDigestParams(credentials.params ?? {});
      if (typeof params === 'string') {
        return { kind: 'refused', as: 'malformed', reason: `${params} is missing or malformed` };
      }
      const claim = offer.claim(params, request);
      if ('kind' in claim) return claim;

      const { username, algorithm, signed, count } = claim;
      const { address } = request.peer;
      // A hash is counted by itself: only of names that exist could we know which it is.
      const account = usernameCaseMapped(username) ?? username;
      const tooMany = await attempts.begin(account, address);
      if (tooMany !== undefined) return tooMany;
      const verifier = await verifierOf(claim);
      const { crypto, hexLength } = DIGEST_ALGORITHMS[algorithm];
      const content = signed.qop === 'auth-int' ? await request.content?.digest(crypto) : undefined;
      const ha1 = verifier?.value ?? nobody.slice(0, hexLength);
      const right = sameText(claim.response, digestResponse(algorithm, ha1, signed, content));
      if (verifier === undefined || !right) {
        attempts.failed(account, address);
        return { kind: 'refused', reason: 'no such name, or the response is wrong' };
      }
      if (claim.stale) {
        const challenges = offer.challenges(request, true);
        return { kind: 'refused', reason: 'nonce is stale', challenges };
      }
      // Counted last, or anybody could use up the counts of others.
      if (!(await useCounts.use('digest', signed.nonce, count, nonces.lifetime))) {
        return { kind: 'refused', reason: 'nc was used before' };
      }
      attempts.succeeded(account, address);
      return granted(claim, verifier);
    },
  };
}
