import {
  type Client,
  type Configuration,
  errors,
  ExternalSigningKey,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
  type TokenEndpointGrantContext,
} from 'oidc-provider';
import { engineAdapter } from './adapter.ts';
import { assertionSkew, useHashedSecrets } from './clients/client-authentication.ts';
import { EXTRA_CLIENT_METADATA } from './clients/client-metadata.ts';
import { isFapi } from '../base/fapi.ts';
import { cookies } from './sessions/cookies.ts';
import { existingGrant } from './grants/existing-grant.ts';
import { features } from './features.ts';
import { ACRS } from '#shared/people/access/assurance.ts';
import { hasRules, isFor } from '#shared/stores/oauth/use-rules.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import { revocationsSpace } from '#shared/config/token-spaces.ts';
import { ASSERTION_ALGS, CLIENT_AUTHENTICATION, ENDPOINT_METADATA } from './answers/metadata.ts';
import { engineHooks } from '../pages/engine-hooks.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { MissingChallenge, orTemporarilyUnavailable } from '../base/errors.ts';
import { OPENID_SCOPES, resourceIndicators } from '../resources/resource-indicators.ts';
import { documentPolicy } from '#shared/client-documents/reach.ts';
import type { AuthzServer } from '../base/server.ts';
import { readParams, SIGN_IN_PARAMS } from './sign-in-params.ts';
import { tellByRule, type TokenSteps } from './token/token-request.ts';
import { decodeJwt } from 'jose';
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { Jwk } from '#shared/keys/signing-key-lifecycle.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { claimsOfScopes } from '../base/claims-request.ts';
import { isEnough } from '../base/acr-values.ts';
import { sessionId } from '../base/session-id.ts';
import { refreshLifetime } from './refresh/refresh.ts';

/**
 * Creates the configured engine. If the keys change, a new engine is created, since an engine cannot change its keys.
 * `steps` run at POST /token.
 */
export function createProvider(server: AuthzServer, keys: KeySet, steps: TokenSteps): Provider {
  const { config } = server;
  const known = resourceIndicators(config, keys);
  const hooks = engineHooks(server);
  const configuration: Configuration = {
    ...steps.client,
    ...steps.refresh,
    ...steps.claims,
    adapter: engineAdapter(server),
    jwks: { keys: keys.jwks.map((jwk) => (jwk['alg'] === 'ES256' ? new SigningKey(jwk) : jwk)) },
    scopes: [...OPENID_SCOPES],
    claims: { openid: ['sub', 'acr', 'amr', 'auth_time'], ...CLAIMS_OF_SCOPES },
    acrValues: [...ACRS],
    responseTypes: ['code'],
    pkce: { required: pkceRequired },
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: { properties: EXTRA_CLIENT_METADATA },
    clientAuthMethods: [...CLIENT_AUTHENTICATION],
    enabledJWA: {
      clientAuthSigningAlgValues: [...ASSERTION_ALGS],
      dPoPSigningAlgValues: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
      idTokenSigningAlgValues: ['ES256', 'RS256'],
    },
    clockTolerance: assertionSkew(config), // the engine uses it for assertions alone
    ttl: lifetimes(server),
    cookies: cookies(server),
    loadExistingGrant: existingGrant(server),
    // Validates every authorization request, after its resources were found.
    extraParams: {
      scope: (ctx, _scope, client) => known.checkScope(ctx, client),
      ...SIGN_IN_PARAMS,
    },
    interactions: { policy: loginPolicy(server), url: (_ctx, { uid }) => `/interaction/${uid}` },
    renderError: hooks.renderError,
    features: features(server, known, hooks),
    discovery: {
      userinfo_endpoint: `${config.issuer}/userinfo`,
      revocations_endpoint: revocationsSpace(config).url,
      ui_locales_supported: [...LANGUAGES],
      prompt_values_supported: PROMPTS.filter((value) => value !== 'create' || isOpen(config)),
      ...(documentPolicy(config) !== 'off' && { client_id_metadata_document_supported: true }),
      ...ENDPOINT_METADATA,
    },
    routes: {
      authorization: '/auth',
      pushed_authorization_request: '/request',
      device_authorization: '/device/auth',
      code_verification: '/device',
      end_session: '/session/end',
      token: '/token',
      jwks: '/jwks',
      revocation: '/token/revocation',
      introspection: '/token/introspection',
    },
  };
  const Engine = withStepsBeforeGrant([...steps.limits, ...steps.grant]);
  const provider = new Engine(config.issuer, configuration);
  // app.ts has replaced Host and X-Forwarded-* by the configured values.
  provider.proxy = true;
  useHashedSecrets(provider, server);
  tellByRule(provider);
  // The `sid` of a client can be found after the session has ended, and logout/ sends the logouts.
  provider.Session.prototype.sidFor = function sidFor(clientId) {
    return sessionId(this.uid, clientId);
  };
  // The claims of a grant are those of its scopes, also if a request names them one by one (`askedScopes`).
  const { Grant } = provider;
  Grant.prototype.getOIDCClaims = function granted() {
    return claimsOfScopes(this.getOIDCScope().split(' '));
  };
  Grant.prototype.getRejectedOIDCClaims = function rejected() {
    return claimsOfScopes(this.getRejectedOIDCScope().split(' '));
  };
  provider.Client.prototype['backchannelLogout'] = () => Promise.resolve();
  readParams(provider, { named: known.named, hasCreate: isOpen(config) });
  // RFC 8628 section 3.2: adds the interval, which the engine omits, since some clients do not know the default.
  provider.on('device_authorization.success', (_ctx, answer) => {
    answer['interval'] = config.device.interval;
  });
  return provider;
}

/**
 * Decides whether an authorization request may omit code_challenge (RFC 7636); the engine checks a challenge that is
 * present. A request may omit it only if a confidential client is registered so, and asks for `openid` with a `nonce`,
 * which also ties the code to its session (RFC 9700 section 2.1.1), or if the operator has switched both off for it.
 * Otherwise throws `invalid_request` with the names of the missing parameters.
 */
function pkceRequired({ oidc }: KoaContextWithOIDC, client: Client): false {
  const parameters = 'code_challenge and code_challenge_method=S256';
  const mode = client.clientAuthMethod === 'none' || isFapi(client) ? undefined : client['pkce'];
  if (mode === 'off') return false;
  if (mode !== 'nonce') {
    throw new MissingChallenge(
      `${parameters} are missing: add both, since PKCE is required (RFC 7636)`,
    );
  }
  if (!oidc.requestParamScopes.has('openid') || oidc.params?.['nonce'] === undefined) {
    throw new errors.InvalidRequest(
      `without ${parameters} this client has to ask for openid with a nonce (RFC 9700 section 2.1.1): add both`,
    );
  }
  return false;
}

type Handler<Params extends object> = (
  ctx: TokenEndpointGrantContext<Params>,
) => void | Promise<void>;

/**
 * Makes the engine run `steps` before each handler of a grant, its own handlers included. A step that throws refuses
 * the request.
 */
export function withStepsBeforeGrant(
  steps: readonly ((ctx: KoaContextWithOIDC) => void | Promise<void>)[],
): typeof Provider {
  return class extends Provider {
    override registerGrantType<Params extends object>(
      name: string,
      handler: Handler<Params>,
      ...rest: [params?: ReadonlySet<string>, duplicates?: ReadonlySet<string>]
    ): void {
      const redeem: Handler<Params> = async (ctx) => {
        for (const step of steps) await step(ctx);
        await handler(ctx);
      };
      super.registerGrantType(name, redeem, ...rest);
    }
  };
}

/**
 * Signs with an ES256 key (RFC 7518 section 3.4) in the main thread, since the thread pool, which the engine uses,
 * would cost three times as much. RS256 takes so long that it stays in the thread pool.
 */
class SigningKey extends ExternalSigningKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(jwk: Jwk) {
    super();
    Object.assign(this, { alg: jwk['alg'], kid: jwk['kid'] });
    this.#private = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  override sign(data: Uint8Array): Uint8Array {
    return sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' });
  }
}

/** The values of `prompt` (OpenID Connect Core 1.0 section 3.1.2.1); `create` only if visitors can make an account. */
const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'];

/** Whether visitors can make an account. */
const isOpen = ({ people }: AuthzServer['config']) => people.registration === 'open';

const { base, Check, Prompt } = interactionPolicy;

const OTHER_PERSON = 'id_token_hint and authenticated subject do not match';

/**
 * Returns the rules by which a person must sign in or decide. They are the engine's rules, and five more. The person
 * signs in again if the client, or the operator's rule for it, requires a stronger sign-in (`acr_values`, RFC 9470
 * section 5). With `prompt=none` the answer is then `login_required`, as for `max_age`: the client may ask again with a
 * page (OpenID Connect Core 1.0 section 3.1.2.6). A person who may not use the client gets a page that offers another
 * account, or with `prompt=none` the client gets `access_denied`. With `prompt=select_account` a person who is signed in
 * chooses the account, and with `prompt=create` a page offers a new account. The engine compares the person with
 * `id_token_hint` only when the request begins, so another person could sign in afterwards (section 3.1.2.2).
 */
function loginPolicy({
  clock,
  config,
  stores,
  directory,
}: Pick<AuthzServer, 'clock' | 'config' | 'stores' | 'directory'>): NonNullable<
  Configuration['interactions']
>['policy'] {
  const policy = base();
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 1);
  if (isOpen(config)) policy.add(new Prompt({ name: 'create', requestable: true }), 0);
  const clientOf = ({ client }: KoaContextWithOIDC['oidc']) =>
    orTemporarilyUnavailable(stores.clients.get(client?.clientId ?? ''));
  policy.get('login')?.checks.add(
    new Check(
      'may_not_use',
      'the person may not use this client',
      'access_denied',
      async ({ oidc }) => {
        const { accountId } = oidc.session ?? {};
        const client = await clientOf(oidc);
        if (accountId === undefined || client === undefined || !hasRules(client)) return false;
        const person = await orTemporarilyUnavailable(directory.find(accountId));
        return person !== undefined && !isFor(client, person);
      },
    ),
  );
  policy.get('login')?.checks.remove('id_token_hint');
  policy.get('login')?.checks.add(
    new Check('id_token_hint', OTHER_PERSON, 'login_required', ({ oidc }) => {
      const hint = oidc.params?.['id_token_hint'];
      return typeof hint === 'string' && decodeJwt(hint).sub !== oidc.session?.accountId;
    }),
  );
  const description = 'the person has to sign in by one of the acr_values';
  policy.get('login')?.checks.add(
    new Check('acr_values', description, 'login_required', async ({ oidc }) => {
      const client = await clientOf(oidc);
      return !isEnough(oidc.session?.acr, oidc.params?.['acr_values'], client?.minimum_acr);
    }),
  );
  // If a clock was set back, a sign-in may lie in the future. The engine considers it recent, but resource servers do
  // not (shared/auth/judge/step-up.ts), so the person would be redirected back and forth until that time.
  policy.get('login')?.checks.add(
    new Check(
      'max_age_ahead',
      'the last sign-in is later than now',
      'login_required',
      ({ oidc }) => {
        const latest = epochSeconds(clock) + config.tokens.skew;
        return oidc.params?.['max_age'] !== undefined && (oidc.session?.loginTs ?? 0) > latest;
      },
    ),
  );
  return policy;
}

/** Seconds that a person may take to sign in and to consent. */
const INTERACTION = 3600;
/** Seconds for which an authorization code may be redeemed (RFC 6749 section 4.1.2: at most ten minutes). */
const CODE = 60;

/**
 * Returns the lifetimes of tokens, codes, grants and sign-ins, in seconds. A session before an application ends after
 * its `idle` time (shared/config/sign-in-clients.ts), and `people.session` after the sign-in at the latest.
 */
function lifetimes(
  server: Pick<AuthzServer, 'config' | 'clock'>,
): NonNullable<Configuration['ttl']> {
  const { tokens, people, device } = server.config;
  return {
    AccessToken: tokens.lifetime,
    ClientCredentials: tokens.lifetime,
    IdToken: tokens.lifetime,
    AuthorizationCode: CODE,
    DeviceCode: device.lifetime,
    Grant: people.grant,
    Interaction: INTERACTION,
    RefreshToken: (ctx) => refreshLifetime(server, ctx),
    // The session expires a fixed time after the sign-in, however often it is used. A session without a person only
    // serves interactions.
    Session: (_ctx, { loginTs }) =>
      loginTs === undefined
        ? INTERACTION
        : Math.max(1, loginTs + people.session - epochSeconds(server.clock)),
  };
}
