import { andThen } from '#shared/base/awaitable.ts';
import { actOf, type AuthRequest, type Scheme, type Verdict } from '../../scheme.ts';
import type { TokenVerifier } from '../../tokens/token-verifier.ts';
import { oauthChallenge, type OAuthSpace } from '../parts/oauth.ts';

export interface BearerOptions {
  readonly space: OAuthSpace;
  readonly tokens: TokenVerifier;
}

/** RFC 6750 section 2.3: a way of sending tokens that ends up in logs. Not taken, but it counts as credentials. */
function hasTokenInQuery({ target }: AuthRequest): boolean {
  const question = target.indexOf('?');
  return question >= 0 && new URLSearchParams(target.slice(question)).has('access_token');
}

/** Bearer (RFC 6750): a token in the Authorization field that is bound to no key. */
export function bearer({ space, tokens }: BearerOptions): Scheme {
  const challenge = (request: AuthRequest, error?: 'invalid_token') =>
    oauthChallenge('Bearer', space, space.scopes(actOf(request)), error);
  const invalidToken = (reason: string, request: AuthRequest): Verdict => ({
    kind: 'refused',
    reason,
    challenges: [challenge(request, 'invalid_token')],
  });

  return {
    name: 'Bearer',

    locate: (request) => (hasTokenInQuery(request) ? { scheme: 'bearer', rest: '' } : undefined),

    challenge: (request) => [challenge(request)],

    authenticate({ token68 }, request) {
      // RFC 6750 section 3.1: an unsupported way to authenticate gets no error code.
      if (hasTokenInQuery(request)) return { kind: 'refused', reason: 'token in the query' };
      // Section 3.1: a token that is malformed is an invalid one.
      if (token68 === undefined) return invalidToken('no b64token', request);
      return andThen(tokens.verify(token68, space.audiences), (token): Verdict => {
        if (token.kind === 'unavailable') return token;
        if (token.kind === 'refused') return invalidToken(token.reason, request);
        // RFC 9449 section 7.2: or whoever steals a bound token could use it without the key.
        if (token.jkt !== undefined) return invalidToken('bound token sent as Bearer', request);
        const { principal, grounds } = token;
        return { kind: 'granted', principal, grounds };
      });
    },

    insufficientScope: (scopes) => oauthChallenge('Bearer', space, scopes, 'insufficient_scope'),
  };
}
