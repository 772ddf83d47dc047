import { sameText } from '#shared/base/constant-time.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { Verifier, Verifiers } from '#shared/people/verifiers.ts';
import { DIGEST_ALGORITHMS } from '#shared/http/auth/digest-algorithms.ts';
import type { Random } from '#shared/base/random.ts';
import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Scheme, Verdict } from '../../scheme.ts';
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
 * Makes the Digest scheme (RFC 7616): a proof of a password that does not reveal it. The proof covers method and
 * target and, with auth-int, the content. No answer shows whether a name exists: for an unknown name the scheme does
 * the same work, including reading the content.
 */
export function digest(options: DigestOptions): Scheme {
  const { realm, verifiers, nonces, useCounts, attempts, random } = options;
  const offer = createOffer(options);
  /** The HA1 used for people who have none; no response made with it is ever accepted. */
  const nobody = random(32).toString('hex');

  /**
   * The verdict for a stale nonce: the client repeats the request with a new nonce by itself (RFC 7616 section 3.3).
   */
  const stale = (request: AuthRequest): Verdict => ({
    kind: 'refused',
    ...refuse('digest-stale'),
    challenges: offer.challenges(request, true),
  });

  /** Finds the verifier of a userhash, or of a name exactly as A1 contains it. */
  async function verifierOf({ algorithm, username, userhash }: Claim) {
    const { kind } = DIGEST_KINDS[DIGEST_ALGORITHMS[algorithm].hash];
    return verifiers.find(kind, realm, userhash ? { handle: username } : { name: username });
  }

  /**
   * Grants the request, with Authentication-Info (RFC 7616 section 3.5). For auth-int that field is made when the
   * answer's content is known.
   */
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
        return { kind: 'refused', as: 'malformed', ...refuse('digest-form', { param: params }) };
      }
      const claim = offer.claim(params, request);
      if ('kind' in claim) return claim;

      const { username, algorithm, signed, count } = claim;
      const { address } = request.peer;
      // Attempts with a userhash are limited by the hash, since the server can find the name only of an existing
      // account.
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
        return { kind: 'refused', ...refuse('digest-response') };
      }
      if (claim.stale) return stale(request);
      const once = { made: nonces.madeAt(signed.nonce), seconds: nonces.lifetime };
      // The nonce count is used up last; otherwise an attacker without the password could use up a client's counts.
      const use = await useCounts.use('digest', signed.nonce, count, once);
      if (use === 'forgotten') return stale(request);
      if (use === 'used') return { kind: 'refused', ...refuse('digest-used') };
      attempts.succeeded(account, address);
      return granted(claim, verifier);
    },
  };
}
