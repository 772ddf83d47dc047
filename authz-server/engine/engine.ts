import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Log } from '#shared/base/log.ts';
import { note } from '#shared/server/message/request-log.ts';
import { send } from '#shared/server/message/answer.ts';
import type { KeyRing, KeySet } from '#shared/keys/signing-key-ring.ts';
import { enginePages } from '../pages/engine-pages.ts';
import { publicMetadata, trueMetadata } from './answers/metadata.ts';
import { site } from '../pages/site.ts';
import { resourceIndicators } from '../resources/resource-indicators.ts';
import { clientCredentials } from './token/client-credentials/client-credentials.ts';
import { createProvider } from './provider.ts';
import { noteRefusals, refusals } from './answers/error-answers.ts';
import type { AuthzServer } from '../base/server.ts';
import { answering } from './refresh/engine-request.ts';
import { tokenSteps } from './token/token-request.ts';
import { tokenStatus } from './token/token-status.ts';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { decodeProtectedHeader } from 'jose';
import type { Context } from 'koa';
import { ALGORITHMS, importPublicJwk } from '#shared/jose/algorithms.ts';

export interface Engine {
  handle(request: IncomingMessage, response: ServerResponse): Awaitable<void>;
  /** Starts to use changed keys; running requests keep the keys with which they began. */
  refreshKeys(): Promise<void>;
  /** Drops keys that have been revoked. Called before signing, so that no revoked key signs. */
  dropRevokedKeys(): Promise<void>;
  /** Resolves to the keys that may sign now, without revoked keys. */
  signingKeys(): Promise<KeySet>;
  /** Returns the public key that verifies our own tokens. An unknown `kid` is searched once more in the store. */
  publicKey(kid: string): Promise<KeyObject | undefined>;
}

/** Creates the engine around a provider, which is replaced as a whole when the keys change. */
export function createEngine(server: AuthzServer, ring: KeyRing, log: Log): Engine {
  const { feed } = server;
  const revoked = new Set<unknown>();
  feed.onKeyRevoked((kid) => revoked.add(kid));
  const steps = tokenSteps(server, log);
  const build = (keys: KeySet) => {
    const provider = createProvider(server, keys, steps);
    provider.use(site(server, provider));
    provider.use(unstored);
    provider.use(comeBack);
    provider.use(challenged(server.config.issuer));
    provider.use(refusals(server));
    provider.use(publicMetadata(server.config.jwks.maxAge));
    provider.use(trueMetadata(server.config));
    provider.use(usualProofKey);
    provider.use(enginePages(server, provider));
    provider.use(tokenStatus(server, publicKey));
    provider.use(answering(steps.answer));
    noteRefusals(provider, server);
    provider.on('grant.success', ({ req, oidc }) => {
      const { AccessToken, ClientCredentials } = oidc.entities;
      const format = (AccessToken ?? ClientCredentials)?.tokenType;
      note(req, { grant: String(oidc.params?.['grant_type']), format });
    });
    provider.on('server_error', (_ctx, error: Error) =>
      log.error('engine', { reason: error.stack ?? error.message }),
    );
    const pipeline = provider.callback();
    const resources = resourceIndicators(server.config, keys);
    const direct = clientCredentials(server, provider, resources, keys);
    return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const answer = server.config.tokens.direct ? await direct(request, response) : undefined;
      if (answer) send(request, response, answer);
      else void pipeline(request, response);
    };
  };
  /** The keys with which the engine was built; the ring may have newer keys. */
  let keys = ring.current;
  let handle = build(keys);

  async function refreshKeys(): Promise<void> {
    await ring.refresh();
    if (ring.current === keys) return;
    keys = ring.current;
    handle = build(keys);
  }

  /** Finds a public key. Another process may have made an unknown key a moment ago. */
  async function publicKey(kid: string): Promise<KeyObject | undefined> {
    if (ring.current.publicKey(kid) === undefined) await refreshKeys();
    return ring.current.publicKey(kid);
  }

  async function dropRevokedKeys(): Promise<void> {
    await feed.latest();
    if (keys.jwks.some(({ kid }) => revoked.has(kid))) await refreshKeys();
  }

  return {
    handle: (request, response) => handle(request, response),
    refreshKeys,
    publicKey,
    dropRevokedKeys,
    async signingKeys() {
      await dropRevokedKeys();
      return keys;
    },
  };
}

/** Forbids caches to store errors, even at endpoints whose answers they may store. */
async function unstored(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  const said = ctx.res.hasHeader('Cache-Control');
  if (ctx.status >= 400 && !said) ctx.set('Cache-Control', 'no-store');
}

/** Adds Retry-After to 429 and 503 (RFC 9110 section 10.2.3). */
async function comeBack(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  if ([429, 503].includes(ctx.status) && !ctx.res.hasHeader('Retry-After')) {
    ctx.set('Retry-After', String(ctx.state['retryAfter'] ?? 1));
  }
}

/**
 * Every 401 has a challenge (RFC 9110 section 15.5.2). The engine sends a challenge only if the request has
 * Authorization.
 */
function challenged(issuer: string) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    if (ctx.status !== 401 || ctx.res.hasHeader('WWW-Authenticate')) return;
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
  };
}

type Next = () => Promise<unknown>;

/** The endpoints whose requests may have a DPoP proof (RFC 9449 sections 5 and 10.1). */
const PROVED: ReadonlySet<string> = new Set(['/token', '/request']);

/**
 * Refuses a DPoP proof with an RSA key of unusual size before the engine verifies it. The client chooses the key, and
 * must not cause more work by its choice.
 */
async function usualProofKey(ctx: Context, next: Next): Promise<void> {
  const proof = ctx.get('DPoP');
  if (proof !== '' && PROVED.has(ctx.path) && isUnusual(proof)) {
    throw new errors.InvalidDpopProof('a key of RSA has 2048 to 4096 bits');
  }
  await next();
}

function isUnusual(proof: string): boolean {
  const { alg, jwk } = headerOf(proof);
  const algorithm = ALGORITHMS.get(alg);
  if (algorithm === undefined || jwk?.kty !== 'RSA' || algorithm.kty !== 'RSA') return false;
  const { kty, n, e } = jwk;
  return importPublicJwk({ kty, n, e }, algorithm) === undefined;
}

/** Returns the header of a proof. Returns an empty header if the proof is no JWT; the engine refuses such a proof. */
function headerOf(proof: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return {};
  }
}
