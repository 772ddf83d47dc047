import { decodeProtectedHeader, jwtVerify } from 'jose';
import type { Jwks } from '#shared/auth/tokens/jwks.ts';
import { audiencesOf, type TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import { jsonOf, type Send } from '#shared/client/send.ts';
import {
  callbackOf,
  type SignInSpace,
  signInClientId,
  signInSecret,
} from '#shared/config/sign-in-clients.ts';
import { parseAccessToken } from '#shared/jose/access-token.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { ALGORITHMS } from '#shared/jose/algorithms.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import type { Visit } from './visits.ts';

/** The claims of the person who signed in, from the authorization server's token for this space. */
export interface Redeemed extends AccessTokenClaims {
  readonly kid: string;
  readonly grant_id: string;
  readonly acr?: string;
  readonly auth_time?: number;
}

/** The authorization server failed or sent something invalid. The message is for the log. */
export class NotRedeemed extends Error {
  override readonly name = 'NotRedeemed';
}

export interface RedeemOptions {
  readonly issuer: string;
  readonly send: Send;
  readonly jwks: Pick<Jwks, 'key'>;
  readonly tokens: TokenVerifier;
  readonly master: Buffer;
  readonly clock: Clock;
  /** The tolerated clock difference in seconds. */
  readonly skew: number;
}

/**
 * Redeems codes (RFC 6749 section 4.1.3) over a direct connection to the authorization server, and checks
 * everything in the answer.
 */
export function createRedeem(options: RedeemOptions) {
  const { issuer, send, jwks, tokens, master, clock, skew } = options;

  async function ask(space: SignInSpace, visit: Visit, code: string) {
    const id = signInClientId(space);
    const reply = await send({
      method: 'POST',
      url: `${issuer}/token`,
      fields: {
        authorization: `Basic ${btoa(`${id}:${signInSecret(master, space)}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: callbackOf(space),
        code_verifier: visit.verifier,
      }).toString(),
    });
    const answer = jsonOf(reply);
    if (reply.status !== 200 || !isObject(answer)) {
      const error = isObject(answer) ? JSON.stringify(answer['error']) : 'no JSON';
      throw new NotRedeemed(`the token endpoint answered ${reply.status}: ${error}`);
    }
    const { access_token: token, id_token: idToken, token_type: type } = answer;
    if (typeof token !== 'string' || typeof idToken !== 'string' || type !== 'Bearer') {
      throw new NotRedeemed('the token endpoint gave no Bearer token with an ID token');
    }
    return { token, idToken };
  }

  /** Checks the ID token (OpenID Connect Core 1.0 section 3.1.3.7). Resolves to the subject. */
  async function checkIdToken(space: SignInSpace, { nonce }: Visit, idToken: string) {
    const { payload } = await jwtVerify(
      idToken,
      async () => {
        const { kid = '', alg = '' } = decodeProtectedHeader(idToken);
        const algorithm = ALGORITHMS.get(alg);
        const key = algorithm && (await jwks.key(kid, algorithm));
        if (key === undefined) throw new NotRedeemed('the issuer has no key of the ID token');
        return key;
      },
      {
        issuer,
        audience: signInClientId(space),
        clockTolerance: skew,
        currentDate: new Date(clock.now()),
        requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
      },
    );
    if (typeof payload.aud !== 'string') throw new NotRedeemed('the ID token has audiences');
    if (!sameText(String(payload['nonce']), nonce)) {
      throw new NotRedeemed('the nonce of the ID token is another');
    }
    return payload.sub;
  }

  /** Verifies the access token as if a client had sent it to the space. */
  async function claimsOf(space: SignInSpace, token: string): Promise<Redeemed> {
    const verdict = await tokens.verify(token, audiencesOf(space.url));
    const parsed = parseAccessToken(token);
    if (verdict.kind !== 'verified' || !parsed.ok) {
      const { reason } = verdict.kind === 'verified' ? { reason: 'unreadable' } : verdict;
      throw new NotRedeemed(`the access token is not good: ${reason}`);
    }
    if (
      verdict.principal.kind !== 'person' ||
      verdict.principal.claims?.['grant_id'] === undefined
    ) {
      throw new NotRedeemed('the access token is of no person');
    }
    // The verifier has checked the signature and each member that is read from the payload.
    return { ...(parsed.payload as unknown as Redeemed), kid: parsed.kid };
  }

  /** Rejects with `NotRedeemed`, `NoAnswer`, or the error about the ID token. */
  return async (space: SignInSpace, visit: Visit, code: string): Promise<Redeemed> => {
    const { token, idToken } = await ask(space, visit, code);
    const [subject, claims] = await Promise.all([
      checkIdToken(space, visit, idToken),
      claimsOf(space, token),
    ]);
    if (subject !== claims.sub) throw new NotRedeemed('the two tokens are of two people');
    return claims;
  };
}
