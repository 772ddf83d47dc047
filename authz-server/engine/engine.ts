import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Log } from '#shared/base/log.ts';
import { send } from '#shared/server/answer.ts';
import { validated } from '#shared/server/validated.ts';
import type { KeyRing, KeySet } from '#shared/keys/signing-key-ring.ts';
import { enginePages } from '../pages/engine-pages.ts';
import { trueMetadata } from './answers/metadata.ts';
import { site } from '../pages/site.ts';
import { resourceIndicators } from '../resources/resource-indicators.ts';
import { clientCredentials } from './token/client-credentials/client-credentials.ts';
import { createProvider } from './provider.ts';
import { noteRefusals, refusals } from './answers/refusals.ts';
import type { AuthzServer } from '../base/server.ts';
import { answering } from './refresh/engine-request.ts';
import { tokenSteps } from './token/token-request.ts';
import { tokenStatus } from './token/token-status.ts';

type Next = () => Promise<unknown>;

export interface Engine {
  handle(request: IncomingMessage, response: ServerResponse): Awaitable<void>;
  /** Takes up changed keys; requests in flight end on the keys they began with. */
  refreshKeys(): Promise<void>;
  /** Before something is signed: what signs is no key that was revoked until now. */
  dropRevokedKeys(): Promise<void>;
  /** By which our own tokens are verified; looked up once more when it is not known. */
  publicKey(kid: string): Promise<KeyObject | undefined>;
}

/** The provider with what stands around it, replaced as a whole when the keys change. */
export function createEngine(server: AuthzServer, ring: KeyRing, log: Log): Engine {
  const { feed } = server;
  const revoked = new Set<unknown>();
  feed.onKeyRevoked((kid) => revoked.add(kid));
  const steps = tokenSteps(server, log);
  const build = (keys: KeySet) => {
    const provider = createProvider(server, keys, steps);
    provider.use(site(server, provider).routes());
    provider.use(unstored);
    provider.use(comeBack);
    provider.use(challenged(server.config.issuer));
    provider.use(refusals);
    provider.use(publicMetadata(server.config.jwks.maxAge));
    provider.use(trueMetadata(server.config));
    provider.use(enginePages(server, provider));
    provider.use(tokenStatus(server, publicKey));
    provider.use(answering(steps.answer));
    noteRefusals(provider);
    provider.on('server_error', (_ctx, error: Error) =>
      log.error('engine', { reason: error.stack ?? error.message }),
    );
    const pipeline = provider.callback();
    const resources = resourceIndicators(server.config, keys);
    const direct = clientCredentials(server, provider, resources);
    return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const answer = server.config.tokens.direct ? await direct(request, response) : undefined;
      if (answer) send(request, response, answer);
      else void pipeline(request, response);
    };
  };
  /** Those that the engine was built with: the ring may be ahead. */
  let keys = ring.current;
  let handle = build(keys);

  async function refreshKeys(): Promise<void> {
    await ring.refresh();
    if (ring.current === keys) return;
    keys = ring.current;
    handle = build(keys);
  }

  /** A key that is not known may have been made by another process a moment ago. */
  async function publicKey(kid: string): Promise<KeyObject | undefined> {
    if (ring.current.publicKey(kid) === undefined) await refreshKeys();
    return ring.current.publicKey(kid);
  }

  return {
    handle: (request, response) => handle(request, response),
    refreshKeys,
    publicKey,
    async dropRevokedKeys() {
      await feed.latest();
      if (keys.jwks.some(({ kid }) => revoked.has(kid))) await refreshKeys();
    },
  };
}

/** No cache keeps an error, whatever the engine's endpoint says of its answers. */
async function unstored(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  const said = ctx.res.hasHeader('Cache-Control');
  if (ctx.status >= 400 && !said) ctx.set('Cache-Control', 'no-store');
}

/** 429 and 503 say when to come back (RFC 9110 section 10.2.3). */
async function comeBack(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  if ([429, 503].includes(ctx.status) && !ctx.res.hasHeader('Retry-After')) {
    ctx.set('Retry-After', String(ctx.state['retryAfter'] ?? 1));
  }
}

/** Every 401 has a challenge (RFC 9110 section 15.5.2); the engine's has one only if Authorization was sent. */
function challenged(issuer: string) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    if (ctx.status !== 401 || ctx.res.hasHeader('WWW-Authenticate')) return;
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
  };
}

/** Metadata (RFC 8414, OpenID Connect Discovery) and keys may be cached. */
function publicMetadata(maxAge: number) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    const found = ctx.path === '/jwks' || ctx.path.startsWith('/.well-known/');
    if (!found || ctx.status !== 200) return;
    const fields = { 'Cache-Control': `public, max-age=${maxAge}`, 'Content-Type': ctx.type };
    const answer = validated(ctx.req, { status: 200, fields, body: JSON.stringify(ctx.body) });
    ctx.remove('X-Request-Id'); // what a cache may give to others is no answer to one request
    ctx.status = answer.status; // 304 takes the content with it
    ctx.set({ ...answer.fields } as Record<string, string>);
  };
}
