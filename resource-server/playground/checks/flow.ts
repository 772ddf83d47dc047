import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { SCOPE_STEP, TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { readJwt } from '#shared/explain/schemes/jwt.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { type Checks, credentialsOf, ofCredentials, type Recorded } from '../recorded.ts';

/**
 * RFC 6750 with a token of the authorization server. By now it may be revoked: it counts as that only if a request before
 * this one has revoked it.
 */
export const flowChecks: Checks = ofCredentials(async (recorded) => {
  const { token68 = '' } = credentialsOf(recorded.asked);
  const verdict = await recorded.pairTokens.verify(token68, [recorded.url]);
  const refusal = verdict.kind === 'verified' ? undefined : verdict;
  const early = refusal?.refusal === 'token-revoked' && !isRevoked(token68, recorded);
  return checksOf(
    [...TOKEN_STEPS, SCOPE_STEP],
    (early ? undefined : refusal) ?? scopeRefusal(token68),
  );
});

const isRevoked = (token: string, { earlier }: Recorded): boolean =>
  earlier.some(
    ({ asked: { words, content }, answer }) =>
      words[1] === '/token/revocation' &&
      answer.words[1] === '200' &&
      new URLSearchParams(content.toString()).get('token') === token,
  );

function scopeRefusal(token: string): Refusal | undefined {
  const { scope } = readJwt(token).payload ?? {};
  const scopes = parseScope(typeof scope === 'string' ? scope : undefined);
  return scopes.has(PLAYGROUND_SCOPE) ? undefined : refuse('scope', { scopes: PLAYGROUND_SCOPE });
}
