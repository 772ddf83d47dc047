import { refuse } from '#shared/refusals/tokens.ts';
import { checksOf } from '../checks.ts';
import { explainAccessToken, TOKEN_STEPS } from './access-token.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

/** Bearer and DPoP: the credentials are an access token (RFC 6750, RFC 9449). */
export const explainToken: ExplainedCredentials = ({ token68 }, surroundings) => {
  if (token68 === undefined) {
    return { parts: [], checks: checksOf(TOKEN_STEPS, refuse('token-not-b64token')) };
  }
  const { parts, checks } = explainAccessToken(token68, surroundings);
  return { parts, checks };
};
