import type { KeyObject } from 'node:crypto';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { decodeJwt } from 'jose';
import { createTokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { note } from '#shared/server/message/request-log.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import type { AuthzServer } from '../../base/server.ts';
import { orTemporarilyUnavailable, TemporarilyUnavailable } from '../../base/errors.ts';
import { spend, toEnd } from '../../base/spend.ts';

type Next = () => Promise<unknown>;
type PublicKeys = (kid: string) => Promise<KeyObject | undefined>;

/**
 * Introspection (RFC 7662) and revocation (RFC 7009) of JWT access tokens. The engine authenticates the client and then
 * refuses every JWT with `unsupported_token_type`; this code answers instead.
 */
export function tokenStatus(server: AuthzServer, publicKey: PublicKeys) {
  const { config, feed, clock } = server;
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const tokens = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });
  const audiences = everyTokenSpace(config).map(({ url }) => url);

  /** Returns the claims of a token that would be accepted now; undefined for any other token. */
  async function verify(ctx: KoaContextWithOIDC): Promise<AccessTokenClaims | undefined> {
    const token = String(ctx.oidc.params?.['token']);
    const verdict = await tokens.verify(token, audiences);
    if (verdict.kind === 'unavailable') throw new TemporarilyUnavailable(verdict.reason);
    // Replaces the reason of the engine's refusal in the log, since the request is not refused.
    note(ctx.req, { reason: verdict.kind === 'refused' ? verdict.reason : undefined });
    return verdict.kind === 'verified' ? decodeJwt(token) : undefined;
  }

  const answers: Record<string, (ctx: KoaContextWithOIDC, client: Client) => Promise<void>> = {
    async introspection(ctx, client) {
      const claims = await verify(ctx);
      const active = claims !== undefined && isOfOAuth(claims) && mayIntrospect(client, claims);
      if (claims !== undefined && !active) {
        const reason = `this client may not introspect tokens for ${[claims.aud].flat().join(' ')}: see client add --introspects`;
        note(ctx.req, { reason });
      }
      ctx.status = 200;
      ctx.body = active ? { active, ...described(claims) } : { active: false };
    },

    async revocation(ctx, client) {
      const claims = await verify(ctx);
      if (claims !== undefined && claims.client_id !== client.clientId) {
        const [error, reason] = ['unauthorized_client', 'the token was issued to another client'];
        note(ctx.req, { reason: `${error}: ${reason}`, error });
        ctx.status = 400;
        ctx.body = { error, error_description: reason };
        return;
      }
      if (claims === undefined) {
        // Another request may have revoked the token, and may still wait until all servers know the revocation.
        await orTemporarilyUnavailable(server.stores.revocations.untilKnown());
      } else {
        // Every server remembers each revocation for days, so the number of an account's revocations is limited.
        await toEnd(spend(server.stores, 'revocations', claims.sub, config.limits.visits));
        const until = rememberUntil(clock.now(), server.longestLife);
        const { jti: id, sub } = claims;
        const who = { client: claims.client_id };
        const person = sub === who.client ? undefined : sub;
        const revoked = { kind: 'token.revoked', id, ...who, person } as const;
        const recorder = server.recorder.by({ who, how: 'http', from: ctx.ip });
        await recorder.changing('revocations', revoked).revoke('token', id, until);
      }
      ctx.status = 200;
    },
  };

  async function takeOver(ctx: KoaContextWithOIDC): Promise<void> {
    const answer = answers[ctx.oidc.route];
    if (answer !== undefined && ctx.oidc.client) await answer(ctx, ctx.oidc.client);
  }

  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    const { error } = (ctx.body ?? {}) as { error?: unknown };
    if (error === 'unsupported_token_type') await takeOver(ctx);
    // RFC 7009 section 2.2 requires no content, but some clients parse the answer as JSON.
    if (ctx.oidc?.route === 'revocation' && ctx.status === 200) ctx.body = {};
  };
}

/** An OAuth resource server would ignore a key type that it does not know, and does not know `access`. */
const isOfOAuth = ({ cnf, access }: AccessTokenClaims): boolean =>
  access === undefined && (cnf === undefined || 'jkt' in cnf);

/** Whether this is the client of the token or its resource server, and has authenticated (RFC 7662 section 2.1). */
function mayIntrospect(client: Client, claims: AccessTokenClaims): boolean {
  if (client.clientAuthMethod === 'none') return false;
  const { introspects } = client;
  const ofAudience = Array.isArray(introspects) && introspects.includes(claims.aud);
  return client.clientId === claims.client_id || ofAudience;
}

/** Returns the answer of RFC 7662 section 2.2. How and when the person signed in follows RFC 9470 section 6.2. */
function described(claims: AccessTokenClaims) {
  const { iss, aud, sub, client_id, scope, iat, exp, jti, cnf } = claims;
  const { acr, amr, auth_time } = claims;
  const token_type = cnf === undefined ? 'Bearer' : 'DPoP';
  return { token_type, iss, aud, sub, client_id, scope, iat, exp, jti, cnf, acr, amr, auth_time };
}
