import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Log } from '#shared/log.ts';
import { note } from '#shared/server/request-log.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import type { KeyRing } from './key-ring.ts';
import { enginePages } from './engine-pages.ts';
import { TemporarilyUnavailable } from './errors.ts';
import { site } from './pages/site.ts';
import { createProvider } from './provider.ts';
import type { AuthzServer } from './server.ts';
import { tokenResponse } from './token-response.ts';
import { tokenStatus } from './token-status.ts';
import { userinfo } from './userinfo.ts';

type Next = () => Promise<unknown>;

export interface Engine {
  handle(request: IncomingMessage, response: ServerResponse): void;
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
  const build = () => {
    const provider = createProvider(server, ring.current);
    provider.use(site(server, provider).routes());
    provider.use(noted);
    provider.use(unavailable);
    provider.use(challenged(server.config.issuer));
    provider.use(userinfo(server, publicKey));
    provider.use(publicMetadata(server.config.jwks.maxAge));
    provider.use(enginePages);
    provider.use(tokenStatus(server, publicKey));
    provider.use(tokenResponse(server));
    provider.on('server_error', (_ctx, error: Error) =>
      log.error('engine', { reason: error.stack ?? error.message }),
    );
    return provider.callback();
  };
  let callback = build();

  async function refreshKeys(): Promise<void> {
    if (await ring.refresh()) callback = build();
  }

  /** A key that is not known may have been made by another process a moment ago. */
  async function publicKey(kid: string): Promise<KeyObject | undefined> {
    if (ring.current.publicKey(kid) === undefined) await refreshKeys();
    return ring.current.publicKey(kid);
  }

  return {
    handle: (request, response) => void callback(request, response),
    refreshKeys,
    publicKey,
    async dropRevokedKeys() {
      await feed.latest();
      if (ring.current.jwks.some(({ kid }) => revoked.has(kid))) await refreshKeys();
    },
  };
}

/** Who asked and what was wrong, for the line of the request in the log. */
async function noted(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  await next();
  const { error } = (ctx.body ?? {}) as { error?: string };
  note(ctx.req, { client: ctx.oidc?.client?.clientId, reason: error });
}

/** A store that cannot answer is 503; that and 429 say when to come back (RFC 9110 section 10.2.3). */
async function unavailable(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof TemporarilyUnavailable))
      throw error;
    ctx.status = 503;
    ctx.body = { error: 'temporarily_unavailable', error_description: 'try again' };
  }
  if ([429, 503].includes(ctx.status) && !ctx.res.hasHeader('Retry-After')) {
    ctx.set('Retry-After', '1');
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
    if (found && ctx.status === 200) ctx.set('Cache-Control', `public, max-age=${maxAge}`);
  };
}
