import { hash } from 'node:crypto';
import { createOffer } from '#shared/auth/schemes/digest/offer.ts';
import { parseDigestParams } from '#shared/auth/schemes/digest/params.ts';
import { digestResponse } from '#shared/auth/schemes/digest/response.ts';
import type { Qop } from '#shared/auth/schemes/digest/response.ts';
import { checksOf, type Wrong } from '#shared/explain/checks.ts';
import { DIGEST_STEPS } from '#shared/explain/schemes/digest.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { PLAYGROUND_REALM } from '#shared/config/playground.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import {
  type Checks,
  ofCredentials,
  credentialsOf,
  isAccepted,
  type Recorded,
} from '../recorded.ts';

/** RFC 7616. */
export const digestChecks: Checks = ofCredentials((recorded) =>
  checksOf(DIGEST_STEPS, refusalOf(recorded)),
);

function refusalOf(recorded: Recorded): Wrong | undefined {
  const { asked, earlier, url } = recorded;
  const params = parseDigestParams(credentialsOf(asked).params ?? {});
  if (typeof params === 'string') return refuse('digest-form', { param: params });
  const [method = '', target = ''] = asked.words;
  const digest = (name: string) => Promise.resolve(hash(name, asked.content, 'buffer'));
  const about = { method, target, origin: new URL(url).origin, content: { digest } };
  const claim = offerOf(recorded).claim(params, about);
  if ('kind' in claim) return claim.kind === 'refused' ? claim : { reason: claim.kind };

  const { algorithm, signed, username, response } = claim;
  const { crypto } = DIGEST_ALGORITHMS[algorithm];
  const ha1 = hash(crypto, `${PERSON.name}:${PLAYGROUND_REALM}:${PASSWORD}`, 'hex');
  const right = digestResponse(algorithm, ha1, signed, hash(crypto, asked.content, 'buffer'));
  if (username !== PERSON.name || response !== right) {
    return refuse('digest-response');
  }
  const used = earlier.some(({ asked: before, answer }) => {
    const { nonce, nc } = credentialsOf(before).params ?? {};
    return isAccepted(answer) && nonce === signed.nonce && nc === signed.nc;
  });
  return used ? refuse('digest-used') : undefined;
}

/** The offer of the challenges before; its nonces are those that the server gave. */
function offerOf({ earlier }: Recorded) {
  const challenges = earlier.flatMap(({ answer }) =>
    answer.lines('www-authenticate').flatMap((value) => parseChallenges(value) ?? []),
  );
  const valuesOf = (name: string) =>
    challenges.flatMap(({ params }) => params?.[name]?.split(',') ?? []);
  const nonces = new Set(valuesOf('nonce'));
  return createOffer({
    realm: PLAYGROUND_REALM,
    algorithms: [...new Set(valuesOf('algorithm') as DigestAlgorithmName[])],
    qop: [...new Set(valuesOf('qop') as Qop[])],
    userhash: false,
    nonces: {
      issue: () => '',
      check: (nonce) => (nonces.has(nonce) ? 'fresh' : 'unknown'),
      madeAt: () => 0,
      ending: () => false,
      lifetime: 0,
    },
  });
}
