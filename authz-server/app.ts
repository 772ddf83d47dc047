import type { IncomingMessage, ServerResponse } from 'node:http';
import { lines } from '#shared/http/fields.ts';
import { clientAddress, customerOf, trustedProxies } from '#shared/http/forwarded.ts';
import { allow } from '#shared/http/methods.ts';
import { parseTarget } from '#shared/http/target.ts';
import type { Target } from '#shared/http/target.ts';
import type { Log } from '#shared/base/log.ts';
import { aboutServer } from '#shared/server/about-server.ts';
import { HttpError, methodNotAllowed, notFound, notImplemented } from '#shared/http/answer.ts';
import { errorAnswer, send } from '#shared/server/answer.ts';
import type { Answer } from '#shared/http/answer.ts';
import { frontDoor, setFields } from '#shared/server/front-door.ts';
import { strictTransport } from '#shared/server/guard.ts';
import type { Handler } from '#shared/server/listen.ts';
import { misdirection } from '#shared/server/misdirected.ts';
import { isPreflight, preflight } from '#shared/server/cors.ts';
import { endpointAt, HANDLED } from './endpoints.ts';
import type { Engine } from './engine/engine.ts';
import { errorProps } from './pages/page-error.ts';
import { frameOf } from './pages/view-of.ts';
import { errorPage } from './pages/views/error.ts';
import { TO_ACCOUNT } from './pages/way-back.ts';
import { pinOrigin } from './engine/pin-origin.ts';
import type { AuthzServer } from './server.ts';
import type { TokenIssuer } from './token-issuer/token-issuer.ts';

/** The engine reads no longer body than this; a longer one is refused before it is sent. */
const LONGEST_FORM = 56 * 1024;

const OF_FIELDS = /^[\t -~]*$/;

/**
 * The authorization server: what is decided before the engine sees a request, then the engine.
 * `tokenIssuer`: it has no origin of its own.
 */
export function createApp(
  server: AuthzServer,
  engine: Engine,
  log: Log,
  tokenIssuer?: TokenIssuer,
): Handler {
  const { config, stores, ready } = server;
  const issuer = new URL(config.issuer);
  const proxies = trustedProxies(config.trustedProxies);

  /** An error is of this server's own, not of the engine: the script that met it may read why. */
  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
  ): Promise<void> {
    try {
      await decide(request, response, target);
    } catch (error) {
      setFields(response, endpointAt(target.path)?.cors?.errors(request.headers.origin) ?? {});
      throw error;
    }
  }

  async function decide(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
  ): Promise<void> {
    const { method = '', headers } = request;
    const { origin = '' } = headers;
    if (target.form === 'asterisk') return send(request, response, aboutServer(method, HANDLED));
    const answer = tokenIssuer?.answer(request, target);
    if (answer !== undefined) return send(request, response, await answer);
    if (!HANDLED.has(method)) throw notImplemented(method);
    const endpoint = endpointAt(target.path);
    if (endpoint === undefined) throw notFound();
    const allowed = allow(endpoint.methods);
    const { methods, cors } = endpoint;
    if (cors && isPreflight(request)) {
      return send(request, response, preflight(cors, request, methods));
    }
    if (method === 'OPTIONS') {
      return send(request, response, { status: 204, fields: { Allow: allowed } });
    }
    if (!methods.includes(method)) throw methodNotAllowed(allowed);

    const forwarded = lines(request.rawHeaders, 'x-forwarded-for');
    const address = clientAddress(request.socket.remoteAddress ?? '', forwarded, proxies);
    if (endpoint.limited) await spend(address);
    if (target.path === '/token') await engine.dropRevokedKeys();
    if (target.path === '/jwks') await engine.refreshKeys();
    if (Number(request.headers['content-length']) > LONGEST_FORM) {
      throw new HttpError(413, 'A form here has at most 56 KiB.', { Connection: 'close' });
    }
    // The engine hands it back to clients, in a field that has no other characters.
    if (!OF_FIELDS.test(origin)) throw new HttpError(400, 'The field Origin is not ASCII.');
    setFields(response, cors?.answers(origin) ?? {}); // decided here, the engine leaves it so
    pinOrigin(request, issuer, target.path, address);
    engine.handle(request, response);
  }

  async function spend(address: string): Promise<void> {
    const spent = await stores.limits.spend('address', customerOf(address), config.limits.address);
    if (spent.ok) return;
    throw new HttpError(429, 'Too many requests from this address. Try again later.', {
      'Retry-After': String(spent.retryAfter),
    });
  }

  const { issuer: tokenOrigin, url } = config.privateTokens ?? {};
  const refuseMisdirected = misdirection([config.issuer, tokenOrigin, url], proxies);
  return frontDoor(handle, {
    ready,
    refuseMisdirected,
    fields: (request) => strictTransport(config.issuer, request, proxies),
    log,
    answer: told(server),
  });
}

/** A person gets a page with a way on, a program problem details; the fields are the same. */
function told(server: AuthzServer) {
  return (error: unknown, request: IncomingMessage): Answer => {
    const answer = errorAnswer(error);
    const { program } = endpointAt(parseTarget(request.url ?? '')?.path ?? '') ?? {};
    if (program || !request.headers.accept?.includes('text/html')) return answer;
    const page = errorPage(frameOf(server, request), { back: TO_ACCOUNT, ...errorProps(error) });
    return { ...page, fields: { ...answer.fields, ...page.fields } };
  };
}
