import { ALONE } from '#shared/base/line.ts';
import { hoba } from '#shared/auth/schemes/hoba/hoba.ts';
import { hobaSettings } from '#shared/auth/schemes/hoba/settings.ts';
import { createSignatures } from '#shared/auth/schemes/hoba/signatures.ts';
import { proofsOver } from '#shared/stores/authentication/proofs.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { HOBA_STEPS } from '#shared/explain/schemes/hoba.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { PERSON } from '../person.ts';
import { PLAYGROUND_REALM } from '#shared/config/playground.ts';
import { type Checks, ofCredentials, type Recorded } from '../recorded.ts';
import { refusalBy, replayMemory } from './refusal-by.ts';

/** RFC 7486. */
export const hobaChecks: Checks = ofCredentials(async (recorded) =>
  checksOf(HOBA_STEPS, await refusalBy(schemeOf(recorded), recorded)),
);

/** The scheme, for which the challenges are ours that stand in the answers before. */
function schemeOf({ earlier, clock, random, publicKeys }: Recorded) {
  const given = new Set(
    earlier.flatMap(({ answer }) =>
      answer
        .lines('www-authenticate')
        .flatMap((value) => parseChallenges(value) ?? [])
        .map(({ params }) => params?.['challenge']),
    ),
  );
  const challenges = {
    issue: () => '',
    madeAt: (challenge: string) => (given.has(challenge) ? clock.now() : undefined),
  };
  const proofs = proofsOver(replayMemory());
  const attempts = {
    begin: () => undefined,
    turn: () => ALONE,
    succeeded: () => {},
    failed: () => {},
  };
  return hoba({
    realm: PLAYGROUND_REALM,
    maxAge: hobaSettings.parse({}).maxAge,
    challenges,
    signatures: createSignatures({ challenges, proofs, attempts, clock, random }),
    publicKeys: { get: publicKeys.get, touch: async () => {} },
    directory: { find: async (id) => (id === PERSON.id ? PERSON : undefined) },
    secondFactor: 'off',
    secondFactors: { get: async () => undefined },
    clock,
  });
}
