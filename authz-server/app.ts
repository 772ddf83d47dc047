import type { IncomingMessage, ServerResponse } from 'node:http';
import { BadRequest, lines } from '#shared/http/fields.ts';
import { clientAddress, trustedProxies } from '#shared/http/forwarded.ts';
import { allow, METHODS } from '#shared/http/methods.ts';
import { parseTarget } from '#shared/http/target.ts';
import type { Log } from '#shared/log.ts';
import { ambiguous } from '#shared/server/ambiguity.ts';
import { errorAnswer, HttpError, methodNotAllowed, notFound, send } from '#shared/server/answer.ts';
import { health } from '#shared/server/health.ts';
import type { Handler } from '#shared/server/listen.ts';
import { note } from '#shared/server/request-log.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Engine } from './engine.ts';
import { pinOrigin } from './front.ts';
import type { AuthzServer } from './provider.ts';

/** The engine reads no longer body than this; a longer one is refused before it is sent. */
const LONGEST_FORM = 56 * 1024;

/** The authorization server: what is decided before the engine sees a request, then the engine. */
export function createApp(server: AuthzServer, engine: Engine, log: Log): Handler {
  const { config, stores, feed } = server;
  const issuer = new URL(config.issuer);
  const proxies = trustedProxies(config.trustedProxies);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reason = ambiguous(request);
    if (reason !== undefined) throw new BadRequest(reason);
    const target = parseTarget(request.url ?? '');
    if (target === undefined) throw new BadRequest('the request target is not valid');
    const { method = '' } = request;

    const status = await health(method, target.path, ready);
    if (status !== undefined) return send(request, response, status);
    const methods = ENDPOINTS.get(target.path);
    if (!METHODS.has(method))
      throw new HttpError(501, `No server here knows the method ${method}.`);
    if (methods === undefined) throw notFound();
    const allowed = allow(methods);
    if (method === 'OPTIONS' && !isPreflight(request)) {
      return send(request, response, { status: 204, fields: { Allow: allowed } });
    }
    if (method !== 'OPTIONS' && !methods.includes(method)) throw methodNotAllowed(allowed);

    const forwarded = lines(request.rawHeaders, 'x-forwarded-for');
    const address = clientAddress(request.socket.remoteAddress ?? '', forwarded, proxies);
    if (target.path === '/token') await spend(address);
    if (target.path === '/jwks') await engine.refreshKeys();
    if (Number(request.headers['content-length']) > LONGEST_FORM) {
      throw new HttpError(413, 'A form here has at most 56 KiB.', { Connection: 'close' });
    }
    pinOrigin(request, issuer, target.path, address);
    engine.handle(request, response);
  }

  async function ready(): Promise<void> {
    feed.current();
    await stores.ping();
  }

  async function spend(address: string): Promise<void> {
    const spent = await stores.limits.spend('address', address, config.limits.address);
    if (spent.ok) return;
    throw new HttpError(429, 'Too many token requests from this address. Try again later.', {
      'Retry-After': String(spent.retryAfter),
    });
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      const answer = errorAnswer(error);
      note(request, { reason: error instanceof Error ? error.message : String(error) });
      if (answer.status === 500) log.error('request', { reason: (error as Error).stack });
      send(request, response, answer);
    });
  };
}

/** A CORS preflight (Fetch section 4.8); any other OPTIONS asks what is allowed here. */
function isPreflight(request: IncomingMessage): boolean {
  return (
    request.headers.origin !== undefined &&
    request.headers['access-control-request-method'] !== undefined
  );
}
