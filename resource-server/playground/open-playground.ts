import { openSchemes } from '#shared/auth/schemes/list.ts';
import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import type { OAuthSchemes, OAuthSpace } from '#shared/auth/schemes/parts/oauth.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import type { IssuerKeys } from '#shared/auth/tokens/issuer-keys.ts';
import type { Clock } from '#shared/base/clock.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { silentLog } from '#shared/base/log.ts';
import { clientOfCommands } from '#shared/config/client-of-commands.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyHandler, AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { logged } from '#shared/server/message/request-log.ts';
import type { PageRoute } from '../answers/page-routes.ts';
import { openCaches } from '../cache/open-caches.ts';
import type { Errors } from '../pages/errors.ts';
import { openGateways } from '../gateway/open-gateways.ts';
import type { PushService } from '../push/push.ts';
import { createSpaces, type SpacePeople, type Spaces } from '../space/spaces.ts';
import { startApplication } from './application.ts';
import { playgroundAttempts } from './attempts.ts';
import { type AuthzLog, wayToAuthorizationServer } from './authorization-server.ts';
import { createCharge, createChargeOfIssuer } from './charge.ts';
import { playgroundPages } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { playgroundProxy } from './proxy.ts';
import { playgroundIssuer, withoutMetadata } from './issuer.ts';
import { openLoopback } from './listener.ts';
import { playgroundTokenIssuer, TOKEN_ISSUER } from './token-issuer.ts';
import { playgroundKeys } from './public-keys.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { redirectUriAt, registerAtPair, resourcesOfPair } from './pair.ts';
import { playgroundPeople } from './person.ts';
import { playgroundPush } from './push.ts';
import { createRun } from './run.ts';
import { playgroundSpaces, spacePath } from './spaces.ts';
import {
  checkLengths,
  type InvalidationListener,
  type Invalidations,
} from '#shared/stores/cache/invalidations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { PLAYGROUND_REALM } from '#shared/config/playground.ts';
import { CLOCK_MARGIN } from '#shared/stores/revocation/lifetime.ts';
import type { SpentTokens } from '#shared/stores/authentication/spent-tokens.ts';

export interface PlaygroundParts {
  readonly config: Config;
  /** The configuration of the server that visitors use. */
  readonly visited: Config;
  /** The log of the authorization server of the playground. */
  readonly authzLog: AuthzLog;
  /** The keys of the authorization server of the playground. */
  readonly jwks: IssuerKeys;
  /** The keys of the authorization server that visitors use. */
  readonly visitedJwks: IssuerKeys;
  /** The parts of the server's schemes. The playground replaces their people. */
  readonly schemes: SchemeParts;
  readonly people: SpacePeople;
  readonly brand: Brand;
  readonly errors: Errors;
  readonly standing: Standing;
  /** The server as visitors reach it. */
  readonly recipient: Recipient;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

export interface Playground extends AsyncDisposable {
  /** The playground's own spaces, which only its own person can enter. */
  readonly spaces: Spaces;
  /** The spaces of the playground, and spaces that only exchanges reach. */
  readonly reached: Spaces;
  readonly pages: readonly PageRoute[];
  /** The gateways to the playground's application, with separate caches and without a log. */
  readonly gateways: Awaited<ReturnType<typeof openGateways>>;
  readonly push: PushService;
  /** Sets the handler that answers the exchanges: the order of requests with the spaces that they reach. */
  serveBy(order: AnyHandler): void;
  readonly recipient: Recipient;
  /**
   * Returns the handler for visitors. Each origin of the server has its own order, since both origins use one listener.
   */
  atEachOrigin(orderAt: (config: Config) => AnyHandler): AnyHandler;
}

/**
 * The recipient of the playground's requests to its own server. No other client reaches it, so no proxy is trusted and
 * clear text is private.
 */
const FROM_ITSELF: Recipient = { at: ORIGIN, proxies: { has: () => false }, local: true };

/** Opens the playground: its spaces, its pages, and the connection to its own server. */
export async function openPlayground(parts: PlaygroundParts): Promise<Playground> {
  const { config, visited, authzLog, people, brand, recipient, errors, standing } = parts;
  const { random, clock } = parts.schemes;
  await using opened = new AsyncDisposableStack();
  const application = opened.use(await startApplication(clock));
  const { seen, inside } = playgroundSpaces(config, application.url);
  const reached = [...seen, ...inside];
  const master = derivedKey(parts.schemes.master, 'countersign playground');
  const secureOrigin = secureOriginOf(config);
  const ofKeys = playgroundKeys(parts.schemes.stores, secureOrigin ?? config.resource, clock);
  const { stores, apiKey } = playgroundApiKey(ofKeys.stores, master);
  const own = playgroundPeople(everySpace({ ...config, spaces: reached }), random);
  const { resource, tokens } = config;
  const issuer = playgroundIssuer({ ...parts.schemes, master, resource, skew: tokens.skew });
  const tokenIssuer = playgroundTokenIssuer({
    oauth: issuer.schemes.oauth,
    recipient: FROM_ITSELF,
    clock,
    log: silentLog,
  });
  const pair = new Set(resourcesOfPair(config));
  const schemes = await openSchemes({
    ...parts.schemes,
    stores: { ...stores, spentTokens: spentInTime(stores.spentTokens) },
    ...own,
    attempts: playgroundAttempts(stores.limits, config.limits),
    tokens: issuer.schemes.tokens,
    oauth: oauthOf(issuer.schemes.oauth, parts.schemes.oauth, pair),
    issuers: () => tokenIssuer.issuer,
    master,
  });
  let order: AnyHandler = () => {};
  const answer: AnyHandler = (request, response) => {
    const { host } = request.headers;
    return host === TOKEN_ISSUER
      ? tokenIssuer.handler(request, response)
      : order(request, response);
  };
  const serve = logged<AnyRequest, AnyResponse>(answer, {
    log: silentLog,
    clock,
    random,
    trusted: FROM_ITSELF.proxies,
  });
  const loopback = opened.use(openLoopback(serve, silentLog));
  const proxying = playgroundProxy({
    schemes,
    origin: resource,
    loopback,
    errors,
    standing,
    clock,
    random,
  });
  const proxy = opened.use(openLoopback(proxying.handler, silentLog, { tunnel: proxying.tunnel }));
  const charge = createCharge(stores.limits);
  const urlOf = (exchange: Exchange) =>
    (exchange.overTls ? (secureOrigin ?? resource) : resource) + spacePath(exchange);
  const secure = secureOrigin === undefined ? undefined : secureWay(secureOrigin, serve, parts);
  if (secure) opened.use(secure.loopback);
  const { clientKey, person } = await registerAtPair(parts.schemes, config);
  const run = createRun({
    loopback,
    proxy,
    secure,
    charge,
    chargeOfIssuer: createChargeOfIssuer(stores.limits),
    authorization: wayToAuthorizationServer(
      Number(new URL(config.jwks.url ?? config.issuer).port),
      authzLog,
    ),
    origin: resource,
    issuer: config.issuer,
    clientKey,
    person,
    redirectUri: redirectUriAt(config),
    issue: issuer.issue,
    keys: ofKeys.keys,
    apiKey,
    clock,
    random,
  });
  const spacesOf = (some: readonly SpaceConfig[]) =>
    createSpaces({ ...config, spaces: [...some] }, schemes, people, clock);
  const reachable = spacesOf(reached);
  const usual = { clock, random, log: silentLog, errors, standing };
  const caches = opened.use(
    await openCaches(reachable.all, {
      ...usual,
      data: config.data,
      stores: { ...parts.schemes.stores, invalidations: playgroundInvalidations(clock) },
    }),
  );
  const gateways = await openGateways(reachable.all, config, {
    ...usual,
    caches: caches.of,
    statements: undefined,
    proxies: FROM_ITSELF.proxies,
  });
  const commandClient = clientOfCommands(visited);
  const held = opened.move();
  return {
    spaces: spacesOf(seen),
    reached: reachable,
    gateways,
    push: playgroundPush({ ...parts.schemes, config, standing, ending: parts.ending }),
    pages: playgroundPages({
      run,
      charge,
      clock,
      issuers: new Map([
        [visited.issuer, { keys: parts.visitedJwks, namesake: parts.jwks }],
        [issuer.issuer, { keys: issuer.keys }],
      ]),
      means: { apiKey, issuer: config.issuer },
      urlOf,
      brand,
      recipient,
      commandsAt: (origin) => ({ documents: documentsOf(visited, origin), client: commandClient }),
      secureOrigin,
    }),
    recipient: FROM_ITSELF,
    atEachOrigin(orderAt) {
      const { tls } = config;
      const first = orderAt(config);
      if (tls === undefined) return first;
      const second = orderAt({ ...config, resource: tls.resource, tls: undefined });
      const { host } = new URL(tls.resource);
      return (request, response) =>
        (request.headers.host === host ? second : first)(request, response);
    },
    serveBy(given) {
      order = given;
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** The URL of documents at an origin that a token opens and that pages may name. */
const documentsOf = ({ spaces }: Config, origin: string): string | undefined =>
  spaces
    .filter(
      ({ serves, schemes, hide }) => serves === 'documents' && schemes.includes('Bearer') && !hide,
    )
    .map(({ url }) => url)
    .find((url) => url.endsWith('/') && new URL(url).origin === origin);

/**
 * Returns schemes that accept tokens of the playground's authorization server at its spaces, and tokens of the
 * playground's own issuer elsewhere.
 */
function oauthOf(own: OAuthSchemes, ofPair: OAuthSchemes, pair: ReadonlySet<string>): OAuthSchemes {
  const at = ({ audiences }: OAuthSpace) => (audiences.some((url) => pair.has(url)) ? ofPair : own);
  return {
    bearer: (space) => at(space).bearer(withoutMetadata(space)),
    dpop: (space) => at(space).dpop({ ...withoutMetadata(space), nonce: space.nonce }),
  };
}

/** The origin of the resource server over TLS. Undefined: there is none. */
const secureOriginOf = ({ resource, tls }: Config): string | undefined =>
  [tls?.resource, resource].find((origin) => origin?.startsWith('https:'));

/** Opens the loopback connection over TLS, with a certificate of its own, since no other client connects to it. */
function secureWay(origin: string, serve: AnyHandler, { schemes }: PlaygroundParts) {
  const host = new URL(origin).hostname.replaceAll(/[[\]]/g, '');
  const certificate = selfSigned([host, '127.0.0.1'], schemes.clock, schemes.random);
  return { origin, loopback: openLoopback(serve, silentLog, { tls: { certificate, host } }) };
}

/**
 * The one API key of the playground, equal in all processes that share the master secret, and stores that have no other
 * key.
 */
function playgroundApiKey(
  stores: Stores,
  master: Buffer,
): { readonly apiKey: string; readonly stores: Stores } {
  const octets = derivedKey(master, 'countersign playground api key');
  const { key, id, secret_hash } = newApiKey((bytes) => octets.subarray(0, bytes));
  const record = {
    id,
    secret_hash,
    application: '(playground)',
    realm: PLAYGROUND_REALM,
    scopes: [],
  };
  const apiKeys: Stores['apiKeys'] = {
    ...stores.apiKeys,
    get: async (asked) => (asked === id ? { ...record, created_at: 0 } : undefined),
    touch: async () => {},
  };
  return { apiKey: key, stores: { ...stores, apiKeys } };
}

/**
 * Remembers a spent token exactly until its key ends. The keys exist in one process with one clock, so a margin for
 * clock differences would only let strangers fill the store.
 */
const spentInTime = (spent: SpentTokens): SpentTokens => ({
  spend: (token, until) => spent.spend(token, until - CLOCK_MARGIN),
});

/**
 * The invalidations of the playground's caches. Only this process has these caches, so the invalidations stay in
 * memory. In the store, bans of visitors would displace those of operators in `cache bans`.
 */
function playgroundInvalidations(clock: Clock): Pick<Invalidations, 'add' | 'feed'> {
  const listeners = new Set<InvalidationListener>();
  return {
    async add(invalidations) {
      checkLengths(invalidations);
      const at = clock.now();
      for (const listener of listeners) {
        for (const one of invalidations) listener.apply({ ...one, at, position: '' });
      }
    },
    async feed(listener) {
      listeners.add(listener);
      return {
        position: '',
        latest() {},
        async [Symbol.asyncDispose]() {
          listeners.delete(listener);
        },
      };
    },
  };
}
