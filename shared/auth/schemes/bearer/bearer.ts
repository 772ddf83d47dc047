import { andThen } from '#shared/base/awaitable.ts';
import { type Refusal, within } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { actOf, type AuthRequest, type Scheme, type Verdict } from '../../scheme.ts';
import type { TokenVerifier } from '../../tokens/token-verifier.ts';
import { oauthChallenge, type OAuthSpace } from '../parts/oauth.ts';

export interface BearerOptions {
  readonly space: OAuthSpace;
  readonly tokens: TokenVerifier;
}

/**
 * True if the query has a token (RFC 6750 section 2.3). The request is refused as one with credentials, because a
 * token in a URL ends up in logs.
 */
function hasTokenInQuery({ target }: AuthRequest): boolean {
  const question = target.indexOf('?');
  return question >= 0 && new URLSearchParams(target.slice(question)).has('access_token');
}

/** Makes the Bearer scheme (RFC 6750): a token in the Authorization field that is bound to no key. */
export function bearer({ space, tokens }: BearerOptions): Scheme {
  const challenge = (request: AuthRequest, error?: 'invalid_token') =>
    oauthChallenge('Bearer', space, space.scopes(actOf(request)), error);
  const invalidToken = (refusal: Refusal, request: AuthRequest): Verdict => ({
    kind: 'refused',
    ...within('access token', refusal),
    challenges: [challenge(request, 'invalid_token')],
  });

  return {
    name: 'Bearer',

    locate: (request) => (hasTokenInQuery(request) ? { scheme: 'bearer', rest: '' } : undefined),

    challenge: (request) => [challenge(request)],

    authenticate({ token68, rest }, request) {
      // RFC 6750 section 3.1: the server does not support tokens in the query, so the answer has no error code.
      if (hasTokenInQuery(request)) return { kind: 'refused', ...refuse('token-in-query') };
      // Section 3.1: a request without credentials gets no error code; a malformed token is an invalid_token.
      if (rest === '') return { kind: 'refused', ...within('access token', refuse('token-none')) };
      if (token68 === undefined) return invalidToken(refuse('token-not-b64token'), request);
      return andThen(tokens.verify(token68, space.audiences), (token): Verdict => {
        if (token.kind === 'unavailable') return token;
        if (token.kind === 'refused') return invalidToken(token, request);
        // RFC 9449 section 7.2, RFC 9635 section 7.2: a bound token is refused here; otherwise a thief could use it
        // without its key.
        if (token.cnf !== undefined) {
          const scheme = 'jkt' in token.cnf ? 'DPoP' : 'GNAP';
          return invalidToken(refuse('token-bound', { scheme }), request);
        }
        const { principal, grounds } = token;
        return { kind: 'granted', principal, grounds };
      });
    },

    insufficientScope: (scopes) => oauthChallenge('Bearer', space, scopes, 'insufficient_scope'),

    insufficientAuthentication: (needed, scopes) =>
      oauthChallenge('Bearer', space, scopes, 'insufficient_user_authentication', needed),
  };
}
