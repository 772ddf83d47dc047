import { gnap } from '#shared/auth/schemes/gnap/gnap.ts';
import { checksOf, notReached, type Step } from '#shared/explain/checks.ts';
import { SCOPE_STEP, GNAP_TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { GNAP_PROOF_STEPS } from '#shared/explain/schemes/gnap.ts';
import { SIGNATURES } from '#shared/refusals/signatures.ts';
import { type Checks, ofCredentials } from '../recorded.ts';
import { refusalBy, replayMemory } from './refusal-by.ts';

const SCHEME_STEP: Step = {
  name: 'scheme',
  check: 'The token comes by the scheme GNAP.',
  section: 'RFC 9635 section 7.2',
  refusals: ['other-scheme'],
};

/** RFC 9635 section 7.2: the token first, then its signature. */
export const gnapChecks: Checks = ofCredentials(async (recorded) => {
  const { url, tokens, clock } = recorded;
  const space = { url, scopes: () => [] };
  const parts = { space, grantEndpoint: '', mtls: false, tokens, replay: replayMemory(), clock };
  const refusal = await refusalBy(gnap(parts), recorded);
  const ofToken = [SCHEME_STEP, ...GNAP_TOKEN_STEPS];
  if (refusal !== undefined && !Object.hasOwn(SIGNATURES, refusal.refusal)) {
    const rest = notReached([...GNAP_PROOF_STEPS, SCOPE_STEP]);
    return [...checksOf(ofToken, refusal), ...rest];
  }
  const proof = checksOf(GNAP_PROOF_STEPS, refusal);
  const scope =
    refusal === undefined ? checksOf([SCOPE_STEP], undefined) : notReached([SCOPE_STEP]);
  return [...checksOf(ofToken, undefined), ...proof, ...scope];
});
