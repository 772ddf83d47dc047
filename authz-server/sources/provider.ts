import { createHash } from 'node:crypto';
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  clockSkew,
  customFetch,
  clockTolerance,
  ClientSecretBasic,
  ClientSecretPost,
  discoveryRequest,
  getValidatedIdTokenClaims,
  type IDToken,
  KEY_SELECTION,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processUserInfoResponse,
  skipAuthTimeCheck,
  userInfoRequest,
  type UserInfoResponse,
  validateApplicationLevelSignature,
  validateAuthResponse,
} from 'oauth4webapi';
import { errors, type JSONWebKeySet } from 'jose';
import type { Clock } from '#shared/base/clock.ts';
import { NoAnswer, type Reply, type Send } from '#shared/client/send.ts';
import { sendingBy } from '#shared/client/sending-by.ts';
import type { SourceConfig } from '#shared/config/schema.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { type LogoutToken, LogoutTokenError, verifyLogoutToken } from './logout-token.ts';

/** Milliseconds for which the metadata of a provider are kept. */
const KEPT = 3_600_000;
/** Milliseconds for which a provider whose metadata cannot be had is not asked for them again. */
const PAUSE = 30_000;
/** Milliseconds after which the keys for logout tokens are fetched again, and after which an unknown key may cause it. */
const KEYS = { kept: 300_000, pause: 30_000 };
/** Seconds by which the clock of a provider may differ. */
const SKEW = 30;

/** The values that only the browser with this sign-in knows, or that only this server can make. */
export interface RoundTrip {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Milliseconds since the epoch: the person must authenticate there after this time. Absent: a session is enough. */
  readonly after?: number;
}

/** The statements of a provider about a person. */
export interface Statements {
  readonly subject: string;
  /** Milliseconds since the epoch: when the person authenticated there, if the provider says so. */
  readonly at?: number;
  /** The session there, for its back-channel logout. */
  readonly sid?: string;
  /** The claims of the ID token and of userinfo. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * Thrown if a sign-in by a provider fails. `denied`: the person or the provider refused; `unavailable`: the provider
 * does not answer; `wrong`: its answer is not acceptable, or this server is not registered there as configured.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: 'denied' | 'unavailable' | 'wrong';

  constructor(kind: ProviderError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The metadata of a provider, or why they cannot be had. */
interface Known {
  /** By the monotonic clock, so that a clock that is set back keeps nothing longer. */
  readonly until: number;
  readonly metadata: Promise<AuthorizationServer>;
  readonly isDown?: boolean;
}

/** An OpenID Provider at which people sign in. */
export interface OpenIdProvider {
  /** Whether the provider was asked for its metadata less than 30 seconds ago and did not answer. */
  isDown(): boolean;
  /** Returns the URL at which the person signs in there. Rejects with `ProviderError`. */
  start(trip: RoundTrip): Promise<string>;
  /** Gets what the provider says about the person, for the parameters of a callback. Rejects with `ProviderError`. */
  redeem(parameters: URLSearchParams, trip: RoundTrip): Promise<Statements>;
  /** Validates a logout token of the provider. Rejects with `ProviderError`. */
  ended(token: string): Promise<LogoutToken>;
}

export interface ProviderParts {
  readonly send: Send;
  readonly clock: Clock;
  readonly redirectUri: string;
  readonly secret: string | undefined;
}

/**
 * Opens the client of an OpenID Provider: authorization code, PKCE with S256, `state`, `nonce` and `iss` (RFC 9700
 * section 2.1). The library checks the answers; this module bounds time, octets and addresses.
 */
export function openProvider(
  { issuer, clientId, scopes }: SourceConfig['provider'],
  { send, clock, redirectUri, secret }: ProviderParts,
): OpenIdProvider {
  let known: Known | undefined;

  const options = sendingBy(async (message) => {
    if (!isSafe(message.url)) throw new ProviderError('wrong', `${message.url} is not https`);
    const reply = await send(message).catch((error: unknown) => {
      throw error instanceof NoAnswer ? new ProviderError('unavailable', error.message) : error;
    });
    if (isFailure(reply)) {
      throw new ProviderError('unavailable', `${message.url} answers ${reply.status}`);
    }
    return reply;
  });

  let keys: { readonly at: number; readonly set: JSONWebKeySet } | undefined;

  /** Returns the keys of the provider, which are at most so many milliseconds old. */
  async function keysOf({ jwks_uri: url = '' }: AuthorizationServer, most: number) {
    if (keys !== undefined && clock.monotonic() - keys.at < most) return keys.set;
    const response = await options[customFetch](url, { method: 'GET', headers: {} } as never);
    const set = (await response.json().catch(() => ({}))) as JSONWebKeySet;
    if (!Array.isArray(set.keys)) throw new ProviderError('wrong', `${url} has no keys`);
    keys = { at: clock.monotonic(), set };
    return set;
  }

  // The clock may have been set back since.
  const secondsSince = (time: number) => Math.max(0, Math.ceil((clock.now() - time) / 1000));

  const client = (): Client => ({
    client_id: clientId,
    // The library reads the clock of the machine itself.
    [clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
    [clockTolerance]: SKEW,
  });

  async function discover(): Promise<AuthorizationServer> {
    const url = new URL(issuer);
    const metadata = await processDiscoveryResponse(url, await discoveryRequest(url, options));
    // OpenID Connect Discovery 1.0 section 4.3: exactly the configured issuer. The library compares URLs.
    if (metadata.issuer !== issuer) {
      throw new ProviderError('wrong', `the metadata are of the issuer ${metadata.issuer}`);
    }
    return metadata;
  }

  /**
   * Returns the metadata of the provider, which one request gets for all who wait. Rejects with `ProviderError`: the same
   * error for half a minute, since anybody may begin a sign-in as often as they like.
   */
  function metadataOf(): Promise<AuthorizationServer> {
    const now = clock.monotonic();
    if (known !== undefined && now < known.until) return known.metadata;
    const metadata = discover().catch((error: unknown) => {
      throw inKinds(error);
    });
    known = { until: now + KEPT, metadata };
    metadata.catch(({ kind }: ProviderError) => {
      known = { until: clock.monotonic() + PAUSE, metadata, isDown: kind === 'unavailable' };
    });
    return metadata;
  }

  /** Asks the provider, unless it did not answer a moment ago. Turns every failure into a `ProviderError`. */
  async function asking<T>(ask: (metadata: AuthorizationServer) => Promise<T>): Promise<T> {
    const metadata = await metadataOf();
    try {
      return await ask(metadata);
    } catch (error) {
      const failure = inKinds(error);
      // A visitor writes the error or the code of a callback, so such a failure alone does not show that the provider is
      // down. The next sign-in asks for the metadata anew, and finds out.
      if (failure.kind === 'unavailable') known = undefined;
      throw failure;
    }
  }

  const authentication = ({
    token_endpoint_auth_methods_supported: methods = ['client_secret_basic'],
  }: AuthorizationServer): ClientAuth => {
    if (secret === undefined) return None();
    return methods.includes('client_secret_basic')
      ? ClientSecretBasic(secret)
      : ClientSecretPost(secret);
  };

  /** Verifies the signature of the ID token. If the provider has changed its keys, it is asked for the new ones. */
  async function verify(metadata: AuthorizationServer, response: Response): Promise<void> {
    try {
      await validateApplicationLevelSignature(metadata, response, options);
    } catch (error) {
      if (!(error instanceof OperationProcessingError) || error.code !== KEY_SELECTION) throw error;
      // The library keeps the keys with the object of the metadata.
      const renewed = { ...metadata };
      known = { until: clock.monotonic() + KEPT, metadata: Promise.resolve(renewed) };
      await validateApplicationLevelSignature(renewed, response, options);
    }
  }

  return {
    isDown: () => known?.isDown === true && clock.monotonic() < known.until,

    start: ({ state, nonce, verifier, after }) =>
      asking(async ({ authorization_endpoint: endpoint = '' }) => {
        if (!isSafe(endpoint)) throw new ProviderError('wrong', 'no authorization endpoint');
        const url = new URL(endpoint);
        const parameters = {
          client_id: clientId,
          response_type: 'code',
          redirect_uri: redirectUri,
          scope: scopes.join(' '),
          state,
          nonce,
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
          ...(after !== undefined && { prompt: 'login', max_age: '0' }),
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        return url.href;
      }),

    ended: (token) =>
      asking(async (metadata) => {
        const expected = { issuer, clientId, clock };
        try {
          return await verifyLogoutToken(token, await keysOf(metadata, KEYS.kept), expected);
        } catch (error) {
          if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
          return verifyLogoutToken(token, await keysOf(metadata, KEYS.pause), expected);
        }
      }),

    redeem: (parameters, { state, nonce, verifier, after }) =>
      asking(async (metadata) => {
        const self = client();
        const accepted = validateAuthResponse(metadata, self, parameters, state);
        const response = await authorizationCodeGrantRequest(
          metadata,
          self,
          authentication(metadata),
          accepted,
          redirectUri,
          verifier,
          options,
        );
        const tokens = await processAuthorizationCodeResponse(metadata, self, response, {
          expectedNonce: nonce,
          maxAge: after === undefined ? skipAuthTimeCheck : secondsSince(after),
          requireIdToken: true,
        });
        await verify(metadata, response);
        // `requireIdToken` demands it.
        const claims = getValidatedIdTokenClaims(tokens) as IDToken;
        const more =
          metadata.userinfo_endpoint === undefined
            ? {}
            : await processUserInfoResponse(
                metadata,
                self,
                claims.sub,
                await userInfoRequest(metadata, self, tokens.access_token, options),
              );
        const { sub: subject, auth_time: at, sid } = claims;
        return {
          subject,
          ...(at !== undefined && { at: at * 1000 }),
          ...(typeof sid === 'string' && { sid }),
          claims: merged(claims, more),
        };
      }),
  };
}

/**
 * Returns the claims of an ID token and of userinfo, which takes precedence. `email_verified` speaks only of the address
 * beside it (OpenID Connect Core 1.0 section 5.1).
 */
function merged(
  { email_verified: isVerified, ...claims }: IDToken,
  more: Partial<UserInfoResponse>,
): Statements['claims'] {
  return { ...claims, ...(!('email' in more) && { email_verified: isVerified }), ...more };
}

/** Whether a server could not handle a request at the moment. */
const isFailure = ({ status }: Reply) => status === 429 || status >= 500;

/** Whether secrets may be sent to a URL: over https, or to this machine. */
function isSafe(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
}

/** Errors of an authorization response that mean that the person did not go on (OpenID Connect Core section 3.1.2.6). */
const DENIED: ReadonlySet<string> = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
]);

function inKinds(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof LogoutTokenError) return new ProviderError('wrong', error.message);
  if (error instanceof AuthorizationResponseError) {
    const { error: code } = error;
    if (code === 'temporarily_unavailable' || code === 'server_error') {
      return new ProviderError('unavailable', `the provider answers ${code}`);
    }
    return new ProviderError(DENIED.has(code) ? 'denied' : 'wrong', `the provider answers ${code}`);
  }
  const { message, cause } = error as Error;
  const code = (cause as { readonly error?: unknown } | undefined)?.error;
  return new ProviderError('wrong', typeof code === 'string' ? `${message}: ${code}` : message);
}
