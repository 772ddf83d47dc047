import {
  type Client,
  type Configuration,
  errors,
  type FindAccount,
  type KoaContextWithOIDC,
  type Provider,
} from 'oidc-provider';
import type { Log } from '#shared/base/log.ts';
import { orTemporarilyUnavailable } from '../../base/errors.ts';
import { isFapi, isFapiAlg } from '../../base/fapi.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spendOfSecret } from '../../base/spend.ts';
import { checkAssertion } from '../clients/client-authentication.ts';
import type { AnswerStep, EngineRequest } from '../refresh/engine-request.ts';
import { isReplaced, mayRefresh, prolonged } from '../refresh/refresh.ts';
import { settled } from '../refresh/settled.ts';
import { rulesOf } from '../clients/client-metadata.ts';
import { recordedIssue } from './recorded-issue.ts';
import { tokenClaims } from './token-claims.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { ALLOW_CREDENTIALS } from '#shared/server/endpoints/cors.ts';
import { clientOrigins } from '../../base/client-origins.ts';
import { openidScope } from './openid-scope.ts';
import { claimsOf } from '#shared/people/claims.ts';
import { ruledClaims } from '#shared/people/told-claims.ts';
import type { Person } from '#shared/people/directory.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { OPENID_SCOPES } from '../../resources/resource-indicators.ts';
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from 'jose';
import { keyInDirectory } from '#shared/people/key-purposes.ts';
import { proofMemory, TOKEN_PROOF_WINDOW } from '#shared/jose/proof-life.ts';

/**
 * The steps of POST /token (RFC 6749 section 3.2), in their order. Before them app.ts checks the limit of the address
 * and the length of the form, drops revoked keys, and replaces the origin that the network reports by our own.
 * answers/error-answers.ts writes refusals. A refused request uses up no code or token.
 */
export const tokenSteps = (server: TokenServer, log: Log) => ({
  /**
   * Client authentication (RFC 6749 section 2.3). The engine finds the client (clients/clients.ts), and compares its
   * secret (`useHashedSecrets`) or checks its assertion.
   */
  client: {
    clientBasedCORS,
    assertJwtClientAuthClaimsAndHeader: checkAssertion(server), // clients/replay.ts runs afterwards
  } satisfies Configuration,

  /** Limits. The client is authenticated and may use this grant type, so the request counts against its limit. */
  limits: [spendOfSecret(server)] satisfies readonly GrantStep[],

  /**
   * Grant. The engine then checks the DPoP proof, finds the code or token (codes/, refresh/) and checks its bindings.
   */
  grant: [demandedProof, redirectUriOfCode, offlineScopeOfRefresh] satisfies readonly GrantStep[],

  /**
   * Issues the tokens of a code or a refresh token. The engine replaces a refresh token before it signs. Its two writes
   * are collected in `EngineRequest` and done later together.
   */
  refresh: {
    issueRefreshToken: mayRefresh,
    rotateRefreshToken: isReplaced,
  } satisfies Configuration,

  /** Claims of the person and of the token. */
  claims: {
    findAccount: findAccount(server),
    extraTokenClaims: (ctx, token) => orTemporarilyUnavailable(tokenClaims(server, ctx, token)),
  } satisfies Configuration,

  /** Answer. The engine has signed the tokens, and its answer is no error. */
  answer: [
    proofs(server),
    tokenResponse,
    prolonged(server),
    recordedIssue(server),
    written,
    settled(log), // runs after the answer was sent
  ] satisfies readonly AnswerStep[],
});

export type TokenSteps = ReturnType<typeof tokenSteps>;

/** The parts of the server that the steps use. */
export type TokenServer = Pick<
  AuthzServer,
  'config' | 'stores' | 'clock' | 'directory' | 'feed' | 'longestLife' | 'random' | 'recorder'
>;

/** A step before the engine redeems a code or token. It throws the error that the client gets. */
export type GrantStep = (ctx: KoaContextWithOIDC) => void | Promise<void>;

/**
 * Refuses a request without a DPoP proof if all tokens of the client are bound to keys (RFC 9449 section 5.2). The
 * engine would answer `invalid_grant`, after which clients throw away a refresh token that is still good.
 */
function demandedProof(ctx: KoaContextWithOIDC): void {
  if (!ctx.oidc.client?.dpopBoundAccessTokens || ctx.get('DPoP') !== '') return;
  throw new errors.InvalidRequest('DPoP proof is missing: all tokens of this client are bound');
}

/**
 * Ignores `offline_access` in a refresh of a token that was issued without it. A sign-in without `prompt=consent` drops
 * this scope (OpenID Connect Core 1.0 section 11), and clients repeat their first scopes at each refresh. The scope
 * gives no access, and the answer lists the granted scopes (RFC 6749 sections 3.3 and 6).
 */
async function offlineScopeOfRefresh({ oidc }: KoaContextWithOIDC): Promise<void> {
  const { provider, params = {}, requestParamScopes: asked } = oidc;
  if (params['grant_type'] !== 'refresh_token') return;
  if (!asked.delete('offline_access') || asked.size === 0) return;
  const token = await provider.RefreshToken.find(String(params['refresh_token']));
  if (token?.scopes.has('offline_access') === false) params['scope'] = [...asked].join(' ');
}

/**
 * The engine requires `redirect_uri` at the token endpoint, the same as in the authorization request (RFC 6749 section
 * 4.1.3). A code that is bound by PKCE needs none (draft-ietf-oauth-v2-1 section 10.2), so a missing one is taken from
 * the code.
 */
async function redirectUriOfCode({ oidc }: KoaContextWithOIDC): Promise<void> {
  const { client, provider, params = {} } = oidc;
  if (params['grant_type'] !== 'authorization_code' || params['redirect_uri'] !== undefined) return;
  const code = await provider.AuthorizationCode.find(String(params['code']));
  if (code === undefined || code.clientId !== client?.clientId) return;
  if (code.codeChallenge === undefined) {
    throw new errors.InvalidRequest('redirect_uri is required: the code is not bound by PKCE');
  }
  params['redirect_uri'] = code.redirectUri;
}

/** Writes the use of the code or token just before the answer, unless the client has disconnected. */
async function written(ctx: KoaContextWithOIDC, { use }: EngineRequest): Promise<void> {
  if (use === undefined || ctx.oidc.route !== 'token') return;
  if (await isGone(ctx)) ctx.res.destroy();
  else await use.write();
}

/**
 * Whether the client disconnected while this process was busy. If the connection ends after the request, the end is
 * read one turn of the event loop later, and some requests take less than a turn. A client that only half-closed its
 * connection (RFC 9112 section 9.6) looks the same.
 */
async function isGone(ctx: KoaContextWithOIDC): Promise<boolean> {
  await turn();
  await turn();
  return !ctx.writable || ctx.req.socket.readableEnded;
}

interface TokenResponse {
  scope?: string;
  refresh_token?: string;
}

/**
 * Completes the engine's answer to a client that acts for a person (RFC 6749 section 5.1): all granted scopes, those of
 * OpenID Connect included, and the stored refresh token (`successor`).
 */
function tokenResponse(ctx: KoaContextWithOIDC, { successor }: EngineRequest): void {
  const { grant, route } = ctx.oidc;
  if (route !== 'token' || grant === undefined) return;
  const body = ctx.body as TokenResponse;
  body.scope = [openidScope(ctx), body.scope].filter(Boolean).join(' ');
  if (successor) body.refresh_token = successor.id;
}

type AccountServer = Pick<AuthzServer, 'directory' | 'stores' | 'clock' | 'longestLife'>;

/** The member of a person's claims that has the claims by rule. No claim has this name. */
const BY_RULE = 'claims by rule';

/** Adds the claims by rule to ID tokens, since the engine selects claims by scope. No rule sets a claim of the engine. */
export function tellByRule({ IdToken }: Provider): void {
  const selected = Reflect.get(IdToken.prototype, 'payload');
  IdToken.prototype.payload = async function payload() {
    return { ...(await selected.call(this)), ...Object(this.available[BY_RULE]) };
  };
}

/** The claims of scopes that an ID token has only if the request names them, or by a rule of the client. */
const NAMED_ONLY = new Set(['email', 'email_verified']);

/**
 * Returns a person in the format of the engine. The client gets the claims of the granted scopes for which it may still
 * ask. The scope `email` is for userinfo (OpenID Connect Core 1.0 section 5.4), since an access token is always issued.
 */
function findAccount(server: AccountServer): FindAccount {
  function claims({ oidc }: KoaContextWithOIDC, person: Person, named: object) {
    const allowed = parseScope(String(oidc.client?.['allowed_scope'])).intersection(OPENID_SCOPES);
    const ruled = ruledClaims(rulesOf(oidc.client), person);
    const told = Object.entries(claimsOf(person, allowed)).filter(
      ([claim]) => !NAMED_ONLY.has(claim) || Object.hasOwn(named, claim),
    );
    return { sub: person.id, ...Object.fromEntries(told), [BY_RULE]: ruled };
  }

  return async (ctx, id) => {
    const person = await orTemporarilyUnavailable(server.directory.find(id));
    return person && { accountId: id, claims: (_use, _scope, named) => claims(ctx, person, named) };
  };
}

/** The engine's routes that accept DPoP proofs. */
const PROVED = new Set(['token', 'pushed_authorization_request']);

/**
 * Refuses a refresh without a DPoP proof if the refresh token was issued with a proof; a confidential client may use
 * another key (RFC 9449 section 5). Refuses a replayed DPoP proof at the token endpoint; at resources
 * shared/auth/schemes/dpop/dpop.ts does so. A proof is valid for one request of any client (RFC 9449 section 11.1). At
 * this point the engine has checked the proof and the client, and no code is used up yet. A key that is registered for
 * a scheme of the resource server may not make proofs (RFC 9729 section 8), and a proof of RS256 may not come from a
 * client with the FAPI 2.0 Security Profile.
 */
function proofs({ stores }: Pick<AuthzServer, 'stores'>) {
  return async (ctx: KoaContextWithOIDC, { found }: EngineRequest): Promise<void> => {
    if (!PROVED.has(ctx.oidc.route)) return;
    const proof = ctx.get('DPoP');
    if (proof === '') {
      if ([...found.values()].every(({ proved }) => proved === undefined)) return;
      throw new errors.InvalidGrant('the refresh token came with a DPoP proof: send one again');
    }
    const { jwk = { kty: '' }, alg } = decodeProtectedHeader(proof);
    if (isFapi(ctx.oidc.client) && !isFapiAlg(alg)) {
      throw new errors.InvalidDpopProof('the algorithm of the DPoP proof is not one of FAPI 2.0');
    }
    if ((await keyInDirectory(stores, jwk)) !== undefined) {
      throw new errors.InvalidDpopProof('the key of the DPoP proof is used for something else');
    }
    const key = `${await calculateJwkThumbprint(jwk)} ${decodeJwt(proof).jti}`;
    if (await stores.replay.unique('dpop', key, proofMemory(2 * TOKEN_PROOF_WINDOW))) return;
    throw new errors.InvalidDpopProof('the DPoP proof was used before');
  };
}

/** The endpoints to which scripts send credentials, as keycloak-js does. The engine reads and sets no cookie there. */
const WITH_CREDENTIALS: ReadonlySet<string> = new Set(['token', 'revocation']);

/**
 * Whether a script of this origin may make requests as that client (Fetch Standard, CORS protocol). Introspection (RFC
 * 7662 section 2.1) is for resource servers, which are no scripts.
 */
function clientBasedCORS(
  { oidc, response }: KoaContextWithOIDC,
  origin: string,
  client: Client,
): boolean {
  if (oidc.route === 'introspection') return false;
  const origins = Array.isArray(client['origins']) ? client['origins'] : [];
  const allowed = clientOrigins({ origins, redirect_uris: client.redirectUris ?? [] }).has(origin);
  if (allowed && WITH_CREDENTIALS.has(oidc.route)) response.set(ALLOW_CREDENTIALS);
  return allowed;
}
