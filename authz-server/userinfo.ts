import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Next } from 'koa';
import { refusal } from '#shared/auth/refusal.ts';
import { admitted } from '#shared/server/admitted.ts';
import { oauthSchemes } from '#shared/auth/oauth-schemes.ts';
import { authRequest, type Recipient } from '#shared/server/auth-request.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from '#shared/auth/scheme.ts';
import { audiencesOf, createTokenVerifier } from '#shared/auth/token-verifier.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { clientOrigins } from './client-origins.ts';
import { type Answer, type Fields, UNSTORED } from '#shared/http/answer.ts';
import { errorAnswer } from '#shared/server/answer.ts';
import { CLIENTS, isPreflight, preflight, readableBy } from '#shared/server/cors.ts';
import { note } from '#shared/server/request-log.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { answerWith } from './pages/respond.ts';
import { personTokens } from './person-tokens.ts';
import type { AuthzServer } from './server.ts';

export type UserinfoServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'feed' | 'master' | 'clock' | 'longestLife' | 'directory'
>;
type PublicKeys = (kid: string) => Promise<KeyObject | undefined>;

const PATH = '/userinfo';

/**
 * The UserInfo endpoint (OpenID Connect Core 1.0 section 5.3), for the access tokens of any resource,
 * which the engine does not take. It stands before the engine, and outside of what makes answers cacheable.
 */
export function userinfo(server: UserinfoServer, publicKey: PublicKeys) {
  const { config, stores } = server;
  const space = userinfoSpace(server, publicKey);
  const recipient: Recipient = {
    at: ORIGIN,
    proxies: trustedProxies(config.trustedProxies),
    local: false,
  };

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method = '', url = '', headers } = request;
    const asked = authRequest(request, { method, target: url, origin: config.issuer }, recipient);
    const outcome = await admitted(request, space, asked);
    if (outcome.kind === 'absent') throw new Error('a space that hides nothing is never absent');
    if (outcome.kind === 'answer') return refusal(outcome, CLIENTS.errors(headers.origin));
    const { principal, fields } = outcome;
    note(request, { client: principal.claims?.['client_id'] });
    const readable = await readers(principal, headers.origin);
    return {
      status: 200,
      fields: { ...UNSTORED, ...fields, ...readable, 'Content-Type': 'application/json' },
      body: JSON.stringify(claimsOf(principal)),
    };
  }

  /** Only scripts of the client that the token was issued to may read what it gives. */
  async function readers(principal: Principal, origin: string | undefined): Promise<Fields> {
    if (origin === undefined) return {};
    const client = await stores.clients.get(principal.claims?.['client_id'] ?? '');
    if (client === undefined || !clientOrigins(client).has(origin)) return {};
    return readableBy(origin);
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== PATH) return next();
    const answered = isPreflight(ctx.req)
      ? preflight(CLIENTS, ctx.req, ['GET', 'POST'])
      : await answer(ctx.req).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) return errorAnswer(error);
          throw error;
        });
    ctx.set('Vary', 'Origin');
    answerWith(ctx, answered);
  };
}

/** The endpoint as a protection space: of the issuer, for who holds a grant with `openid`. */
function userinfoSpace(server: UserinfoServer, publicKey: PublicKeys): ProtectionSpace {
  const { config, stores, feed, master, clock, directory } = server;
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const verifier = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });
  const tokens = personTokens({ tokens: verifier, access: server, directory });
  const { bearer, dpop } = oauthSchemes({ tokens, replay: stores.replay, master, clock });
  const scopes = () => ['openid'];
  const audiences = config.spaces.flatMap(({ url }) => audiencesOf(url));
  const oauth = { realm: issuer, audiences, scopes };
  return {
    at: ORIGIN,
    realm: issuer,
    schemes: [bearer(oauth), dpop({ ...oauth, nonce: settings.nonce })],
    scopes,
  };
}

/** OpenID Connect Core 1.0 sections 5.1 and 5.4. */
function claimsOf({ claims = {}, scopes }: Principal): Readonly<Record<string, unknown>> {
  const { sub, preferred_username } = claims;
  return { sub, ...(scopes?.has('profile') && { preferred_username }) };
}
