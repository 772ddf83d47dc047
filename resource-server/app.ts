import type { IncomingMessage, ServerResponse } from 'node:http';
import { admit, refusal } from '#shared/auth/admit.ts';
import { authRequest, type Door } from '#shared/auth/request.ts';
import type { Config } from '#shared/config/schema.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { allow } from '#shared/http/methods.ts';
import type { Target } from '#shared/http/target.ts';
import type { Log } from '#shared/log.ts';
import {
  type Answer,
  errorAnswer,
  type Fields,
  methodNotAllowed,
  notFound,
  send,
} from '#shared/server/answer.ts';
import { frontDoor, noteError } from '#shared/server/front-door.ts';
import { isPreflight } from '#shared/server/preflight.ts';
import { corsFields, OPEN, preflight } from './cors.ts';
import { forwardedOrigin } from './forwarded-origin.ts';
import { homePage } from './home.ts';
import type { Resources } from './resources/resource.ts';
import { sealedAnswer } from './resources/seal.ts';
import { createStage } from './resources/stage.ts';
import type { Space, Spaces } from './spaces.ts';
import { verify } from './verify.ts';
import { isMetadata, resourceMetadata } from './well-known.ts';

export interface AppParts {
  readonly config: Config;
  readonly spaces: Spaces;
  /** What each space serves; nothing for a space that only `/verify` speaks for. */
  readonly resources: ReadonlyMap<Space, Resources>;
  /** Resolves when the server can do its work. */
  readonly ready: () => Promise<void>;
  readonly log: Log;
  readonly door: Door;
}

/** An address of the server's own, outside every space: GET, HEAD and OPTIONS without credentials. */
interface Endpoint {
  readonly get: (request: IncomingMessage, target: Target) => Answer | Promise<Answer>;
  /** What every answer has besides. */
  readonly fields: Fields;
}

/** All that the server does anywhere (RFC 9110 section 9.3.7, `OPTIONS *`). */
const SERVER_METHODS = allow(['GET', 'POST', 'PUT', 'DELETE']);
const ENDPOINT_METHODS = allow(['GET']);

/** The resource server: past the front door each request goes through `handle` from top to bottom. */
export function createApp({ config, spaces, resources, ready, log, door }: AppParts) {
  const page = homePage(config, spaces);
  const stage = createStage(log);

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
  ): Promise<void> {
    if (target.form === 'asterisk') return send(request, response, aboutServer(request.method));

    const endpoint = endpointAt(target);
    if (endpoint !== undefined) {
      const answer = await call(endpoint, request, target).catch((error: unknown) => {
        noteError(request, error, log);
        return errorAnswer(error);
      });
      const fields = { ...answer.fields, ...endpoint.fields };
      return send(request, response, { ...answer, fields });
    }
    const space = spaces.find(config.resource, target.segments);
    if (space === undefined) throw notFound();
    return enter(request, response, space, target);
  }

  /** A space, from its door to its resources. */
  async function enter(
    request: IncomingMessage,
    response: ServerResponse,
    space: Space,
    target: Target,
  ): Promise<void> {
    const { method = '', url = '', headers } = request;
    const methods = resources.get(space)?.(target, space);
    if (isPreflight(request)) {
      const answer = preflight(space.corsOrigins, headers.origin, methods?.keys() ?? []);
      return send(request, response, answer);
    }
    const asked = authRequest(request, { method, target: url, origin: space.origin }, door);
    const outcome = await admit(request, space, asked);
    if (outcome.kind === 'absent') throw notFound();
    const cors = corsFields(space.corsOrigins, headers.origin);
    if (outcome.kind === 'answer') {
      return send(request, response, sealedAnswer(request, refusal(outcome, cors), outcome.seal));
    }
    const { scheme, principal, seal } = outcome;
    const fields = { ...outcome.fields, ...cors };
    const visit = { space, target, scheme, principal };
    stage(request, response, { ...visit, methods, fields, ...(seal && { seal }) });
  }

  const home: Endpoint = { get: () => page, fields: {} };
  const forwardAuthentication: Endpoint = {
    get: (request) => verify(request, spaces, door),
    fields: {},
  };
  const metadata: Endpoint = {
    get({ rawHeaders, socket }, target) {
      const trusted = door.proxies.has(socket.remoteAddress ?? '');
      const origin = trusted ? forwardedOrigin(rawHeaders) : undefined;
      return resourceMetadata(config, spaces, origin ?? config.resource, target);
    },
    fields: OPEN,
  };

  function endpointAt(target: Target): Endpoint | undefined {
    if (isMetadata(target)) return metadata;
    if (target.path === '/verify') return forwardAuthentication;
    const free = spaces.find(config.resource, []) === undefined;
    return target.path === '/' && free ? home : undefined;
  }

  return frontDoor(handle, { ready, log });
}

async function call(endpoint: Endpoint, request: IncomingMessage, target: Target): Promise<Answer> {
  if (request.method === 'OPTIONS') return { status: 204, fields: { Allow: ENDPOINT_METHODS } };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw methodNotAllowed(ENDPOINT_METHODS);
  }
  return endpoint.get(request, target);
}

function aboutServer(method = ''): Answer {
  if (method === 'OPTIONS') return { status: 204, fields: { Allow: SERVER_METHODS } };
  throw new BadRequest('Only OPTIONS can be asked of `*` (RFC 9112 section 3.2.4).');
}
