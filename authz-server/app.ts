import type { IncomingMessage, ServerResponse } from 'node:http';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { lines } from '#shared/http/fields.ts';
import { clientAddress, customerOf, trustedProxies } from '#shared/http/forwarded.ts';
import { parseTarget, type Target } from '#shared/http/target.ts';
import type { Log } from '#shared/base/log.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import { type Answer, HttpError, withReason } from '#shared/http/answer.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import { strictTransport } from '#shared/server/front-door/security-fields.ts';
import type { Handler } from '#shared/server/listen/listen.ts';
import { misdirection } from '#shared/server/front-door/misdirected.ts';
import { securityTxt } from '#shared/server/endpoints/security-txt.ts';
import { createServe } from '#shared/server/endpoints/serve.ts';
import {
  ENDPOINTS,
  handledBy,
  lookUpIn,
  type Rows,
  rowsOf,
  unknownPath,
} from './base/endpoints.ts';
import type { Engine } from './engine/engine.ts';
import { gnapEndpoints } from './gnap/endpoints.ts';
import { tellError } from './pages/views/tell-error.ts';
import { formTooLong } from './base/errors.ts';
import { houseOf } from './base/house.ts';
import { toEnd } from './base/spend.ts';
import { inOAuth } from './base/oauth-error.ts';
import type { AuthzServer } from './base/server.ts';
import type { TokenIssuer } from './token-issuer/token-issuer.ts';
import { protection } from './resources/protection.ts';
import { metadataEndpoint } from './resources/resource-metadata.ts';
import { following } from './revocations/endpoint.ts';
import { adminSpace, revocationsSpace } from '#shared/config/token-spaces.ts';
import { adminRules } from './admin/admin-rules.ts';
import { adminApi } from './admin/api.ts';
import type { Spent } from '#shared/stores/limits/limits.ts';
import { userinfo } from './userinfo/userinfo.ts';

/** The longest request body in bytes that the engine reads. A longer body is refused before the client sends it. */
const LONGEST_FORM = 56 * 1024;

/** Matches text whose characters may all occur in fields of the engine's answers to clients. */
const OF_FIELDS = /^[\t -~]*$/;

/**
 * Creates the handler of the authorization server: our decisions before the engine sees a request, then the engine.
 * `tokenIssuer` is set if the token issuer has no origin of its own.
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
  const { publicKey } = engine;
  const byToken = userinfo(server, publicKey);
  const revocations = revocationsSpace(config);
  const followed = protection({ ...server, publicKey })(revocations, following({ ...server, log }));
  const administration = adminSpace(config);
  const administered = protection({ ...server, publicKey })(
    administration,
    adminApi(houseOf(server)),
    adminRules(server),
  );
  const rows: Rows = {
    ...rowsOf(config),
    ...Object.fromEntries(tokenIssuer?.endpoints ?? []),
    '/userinfo': { ...ENDPOINTS['/userinfo'], byToken },
    '/revocations': { ...ENDPOINTS['/revocations'], byToken: followed },
    '/admin/api/:uid': { ...ENDPOINTS['/admin/api/:uid'], byToken: administered },
    ...Object.fromEntries(
      [revocations, administration].map((space) => metadataEndpoint(space, config.issuer)),
    ),
    ...Object.fromEntries(securityTxt(config, [config.issuer], server.clock)),
    ...(config.gnap && Object.fromEntries(gnapEndpoints({ ...server, ...engine }))),
  };
  const at = lookUpIn(rows);
  const serve = createServe({
    handled: handledBy(rows),
    recipient: { at: ORIGIN, proxies, local: false },
    ready,
    spend,
    told: ofMode,
    behind: toEngine,
  });

  async function toEngine(
    request: IncomingMessage,
    response: ServerResponse,
    { path }: Target,
  ): Promise<void> {
    if (at(path) === undefined) throw unknownPath(path);
    const { 'content-length': length, origin = '' } = request.headers;
    if (path === '/token') await engine.dropRevokedKeys();
    if (path === '/jwks') await engine.refreshKeys();
    if (Number(length) > LONGEST_FORM) throw formTooLong();
    if (!OF_FIELDS.test(origin)) throw new HttpError(400, 'The field Origin is not ASCII.');
    pinOrigin(request, issuer, path, addressOf(request));
    // If a client disconnects, the engine assumes that a body parser ran before it, and prints a warning that is no log
    // line.
    Object.defineProperty(request, 'readable', { value: true });
    await engine.handle(request, response);
  }

  function addressOf({ rawHeaders, socket }: IncomingMessage): string {
    const forwarded = lines(rawHeaders, 'x-forwarded-for');
    return clientAddress(socket.remoteAddress ?? '', forwarded, proxies);
  }

  function spend(request: IncomingMessage): Awaitable<void> {
    const customer = customerOf(addressOf(request));
    const spending = stores.limits.spend('address', customer, config.limits.address);
    const asked: Awaitable<Spent | undefined> =
      request.method === 'DELETE' ? toEnd(spending) : spending;
    return andThen(asked, (spent) => {
      if (spent?.ok !== false) return;
      throw new HttpError(429, 'Too many requests from this address. Try again later.', {
        'Retry-After': String(spent.retryAfter),
      });
    });
  }

  /** Returns the answer, in development with its reason, like the engine's answers (base/reasons.ts). */
  function ofMode<Given extends Answer<unknown>>(answer: Given): Given | Answer {
    return server.development ? withReason(answer) : answer;
  }

  function told(error: unknown, request: IncomingMessage): Answer {
    const path = parseTarget(request.url ?? '')?.path ?? '';
    const { program = false } = at(path) ?? {};
    if (!program) return tellError(server, request, error);
    return ofMode(inOAuth(path, errorAnswer(error)));
  }

  const { issuer: tokenOrigin, url } = config.privateTokens ?? {};
  const refuseMisdirected = misdirection([config.issuer, tokenOrigin, url], proxies);
  const strict = strictTransport(config.issuer, proxies);
  return frontDoor(
    ({ request, response, target }) => serve(request, response, target, at(target.path)),
    {
      open: openTarget,
      refuseMisdirected,
      fields: ({ request }) => strict(request),
      log,
      answer: told,
    },
  );
}

/**
 * Sets the request's scheme, host and client address from the configuration. The engine builds
 * its URLs (metadata, `htu` of DPoP, RFC 9449 section 4.3) and its addresses from these fields, so none of
 * them may come from the network.
 */
function pinOrigin(request: IncomingMessage, issuer: URL, path: string, address: string): void {
  const query = request.url?.indexOf('?') ?? -1;
  request.url = query === -1 ? path : path + (request.url ?? '').slice(query);
  for (const name of Object.keys(request.headers)) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete request.headers[name];
  }
  request.headers.host = issuer.host;
  request.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
  request.headers['x-forwarded-host'] = issuer.host;
  request.headers['x-forwarded-for'] = address;
}
