import { epochSeconds } from '#shared/base/clock.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { checkDpopProof } from '#shared/jose/dpop-proof.ts';
import { PROOF_WINDOW } from '#shared/jose/proof-life.ts';
import type { TokenVerdict } from '#shared/auth/tokens/token-verifier.ts';
import { type Check, checksOf, notReached, type Step } from '#shared/explain/checks.ts';
import { SCOPE_STEP, TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { PROOF_STEPS } from '#shared/explain/schemes/dpop-proof.ts';
import { readJwt } from '#shared/explain/schemes/jwt.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse as refuseSpace } from '#shared/refusals/spaces.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import {
  type Checks,
  ofCredentials,
  credentialsOf,
  isAccepted,
  type Recorded,
} from '../recorded.ts';

/** RFC 6750. */
export const bearerChecks: Checks = ofCredentials(async (recorded) => {
  const token = await verifiedToken(recorded);
  const steps = [...TOKEN_STEPS, SCOPE_STEP];
  if (token.kind !== 'verified') return checksOf(steps, token);
  const bound = token.cnf === undefined ? undefined : refuse('token-bound', { scheme: 'DPoP' });
  return checksOf(steps, bound ?? scopeRefusal(token));
});

const FIELD_STEP: Step = {
  name: 'field',
  check: 'The token comes by the scheme DPoP, with one field DPoP beside it.',
  section: 'RFC 9449 section 7.1',
};

/** RFC 9449: the token first, then its proof. The space takes Bearer, too, for tokens that are bound to no key. */
export const dpopChecks: Checks = ofCredentials(async (recorded) => {
  const { asked } = recorded;
  const [proof] = asked.lines('dpop');
  const { scheme } = credentialsOf(asked);
  const rest = [...TOKEN_STEPS, ...PROOF_STEPS, SCOPE_STEP];
  if (scheme === 'bearer') return bearerChecks(recorded);
  if (proof === undefined) {
    return [...checksOf([FIELD_STEP], refuse('proof-none')), ...notReached(rest)];
  }
  const token = await verifiedToken(recorded);
  const field = checksOf([FIELD_STEP], undefined);
  if (token.kind !== 'verified') {
    const judged = checksOf(TOKEN_STEPS, token);
    return [...field, ...judged, ...notReached([...PROOF_STEPS, SCOPE_STEP])];
  }
  const judged = [...field, ...checksOf(TOKEN_STEPS, undefined)];
  return [...judged, ...checksOfProof(proof, token, recorded)];
});

type Verified = Extract<TokenVerdict, { kind: 'verified' }>;

async function verifiedToken({ asked, tokens, url }: Recorded): Promise<TokenVerdict> {
  const { token68 } = credentialsOf(asked);
  return token68 === undefined
    ? { kind: 'refused', ...refuse('token-not-b64token') }
    : tokens.verify(token68, [url]);
}

function scopeRefusal({ principal }: Verified): Refusal | undefined {
  const scopes = 'scopes' in principal ? principal.scopes : undefined;
  return scopes?.has(PLAYGROUND_SCOPE)
    ? undefined
    : refuseSpace('scope', { scopes: PLAYGROUND_SCOPE });
}

function checksOfProof(
  proof: string,
  token: Verified,
  { asked, earlier, url, clock }: Recorded,
): readonly Check[] {
  const [method = '', target = ''] = asked.words;
  const given = new Set(earlier.flatMap(({ answer }) => answer.lines('dpop-nonce')));
  const { token68 = '' } = credentialsOf(asked);
  const { cnf } = token;
  const checked = checkDpopProof(
    proof,
    {
      method,
      htu: new URL(target, url).href,
      accessToken: token68,
      ...(cnf && 'jkt' in cnf && { jkt: cnf.jkt }),
      now: epochSeconds(clock),
      window: PROOF_WINDOW,
      refusesNonce(nonce) {
        if (nonce === undefined) return refuse('proof-nonce-missing');
        return given.has(nonce) ? undefined : refuse('proof-nonce-foreign');
      },
    },
    { get: () => undefined, set: () => {} },
  );
  if (!checked.ok) return [...checksOf(PROOF_STEPS, checked), ...notReached([SCOPE_STEP])];
  const used = earlier.some(
    ({ asked: before, answer }) =>
      isAccepted(answer) && readJwt(before.lines('dpop')[0] ?? '').payload?.['jti'] === checked.jti,
  );
  if (used) return [...checksOf(PROOF_STEPS, refuse('proof-used')), ...notReached([SCOPE_STEP])];
  return [...checksOf(PROOF_STEPS, undefined), ...checksOf([SCOPE_STEP], scopeRefusal(token))];
}
