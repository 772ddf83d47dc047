import { join } from 'node:path';
import { createVapid } from '#shared/auth/schemes/vapid/vapid.ts';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { ORIGIN } from '#shared/auth/scheme.ts';
import { createStanding } from '#shared/auth/standing/standing.ts';
import { hasPlayground } from '#shared/config/playground.ts';
import { listenerOf } from '#shared/config/local-origin.ts';
import { isProduction, ownsTokenOrigin } from '#shared/config/production.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { WORKER } from '#shared/base/workers.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import type { Gss } from '#shared/auth/schemes/parts/gss.ts';
import { gnapSpaces, takesTokens } from '#shared/config/token-spaces.ts';
import { openVoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { RefusalAt } from '#shared/server/message/connection-error.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { configuredLimits } from '#shared/server/limits/configured-limits.ts';
import type { Parts, Server } from '#shared/server/process.ts';
import type { Ready } from '#shared/server/endpoints/health.ts';
import { certificateOf, overTls } from '#shared/server/over-tls.ts';
import { silentLog } from '#shared/base/log.ts';
import { logged } from '#shared/server/message/request-log.ts';
import { FORWARDING, TICKETS } from '#shared/config/server-limits.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { openSchemes, SCHEMES, withoutSecondFactor } from '#shared/auth/schemes/list.ts';
import type { SchemeEntry } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { createOrder } from './order.ts';
import { issuedTokens } from '#shared/auth/tokens/issued-tokens.ts';
import { type Hearing, type IssuerClock, issuerClock } from '#shared/auth/tokens/issuer-clock.ts';
import { createJwks } from '#shared/auth/tokens/jwks.ts';
import { isVerify, verdictStatus } from './endpoints/verdict-status.ts';
import { openCaches } from './cache/open-caches.ts';
import { openGateways } from './gateway/open-gateways.ts';
import { openIssuers } from './auth/private-token/open-issuers.ts';
import type { openSend, Send, SendOptions } from '#shared/client/send.ts';
import { endpointsOfSchemes } from './auth/scheme-endpoints.ts';
import { schemeParts, withSecondFactor } from './auth/scheme-parts.ts';
import { openIdentity } from './gateway/identity/open-identity.ts';
import { openDisk } from './resources/content/disk.ts';
import { documents } from './resources/documents.ts';
import type { Network } from './proxy/network.ts';
import { besideAsProxy } from './proxy/open-proxy.ts';
import { identity } from './resources/identity.ts';
import { createErrors, waysFrom } from './pages/errors.ts';
import { openBrand } from './pages/open-brand.ts';
import { MadeMemory } from './resources/place/made.ts';
import { createLockSystem } from './resources/webdav/locks.ts';
import type { ServedResources } from './resources/resource/resource.ts';
import type { Playground, PlaygroundParts } from './playground/open-playground.ts';
import { createNews } from './push/news.ts';
import { createPush } from './push/push.ts';
import { openSignIn } from './sign-in/open-sign-in.ts';
import { createSpaces, joinSpaces, type Space } from './space/spaces.ts';

/** Seconds for which a file without a row is kept, far longer than an upload takes. */
const LEFTOVER_AGE = 86_400;
/** The part of the memory for content that listings and results may take in addition. */
const FOR_MADE = 1 / 4;
/** Seconds between two sweeps. */
const SWEEP_STORE = 60;
const SWEEP_CONTENT = 3600;
const SWEEP_PUSH = 3600;

/** The parts that the resource server needs beside its store and its configuration. */
export interface Outside {
  /** Fetches the JSON at a URL, and calls `hear` with the answer. Rejects within seconds without an answer. */
  fetch(url: string, hear: Hearing): Promise<unknown>;
  /** Opens HTTP connections to token issuers and the authorization server. */
  readonly openSend: typeof openSend;
  /** Kerberos, if it is configured and installed. */
  readonly gss: Gss | undefined;
  readonly network: Network;
  /** Opens the playground, in its own process. Other processes pass its requests on to that process. */
  readonly openPlayground?: (
    parts: Omit<PlaygroundParts, 'visited' | 'visitedJwks' | 'authzLog'>,
  ) => Promise<Playground>;
}

/** Composes the resource server: schemes, spaces, documents, gateways, and the application over them. */
export async function composeResourceServer(parts: Parts, outside: Outside): Promise<Server> {
  const { config, stores, feed, master, clock, random, log, ready } = parts;
  const { fetch, gss, network } = outside;
  const { url = `${config.issuer}/jwks`, maxAge, cooldown } = config.jwks;
  const { issuer } = config;
  const { skew } = config.tokens;
  const clocks = issuerClock({ issuer, clock, skew, log });
  const fetchKeys = async (of: string) => fetch(of, clocks.hear);
  const jwks = createJwks({ url, fetch: fetchKeys, clock, maxAge, cooldown, log });
  const tokens = issuedTokens({ issuer, jwks, feed, clock, skew });
  const oauth = oauthSchemes({ tokens, proofs: stores.proofs, master, clock });
  const issuers = openIssuers({
    ...parts,
    send: outside.openSend(),
    sendToPair: heardBy(clocks, outside.openSend(await wayToIssuer(parts))),
    voprf: openVoprfThreads(),
  });
  const brand = await openBrand(config);
  const errors = createErrors({
    brand,
    log,
    development: !isProduction(config),
    ways: waysFrom(config),
  });
  const partsOfSchemes = schemeParts({ ...parts, oauth, tokens, gss, issuers, brand });
  const schemes = await openSchemes(withSecondFactor(partsOfSchemes, parts));
  const unasked = [...config.spaces, config.proxy].some((place) => place?.secondFactor)
    ? await withoutSecondFactor(schemes, partsOfSchemes)
    : schemes;
  const proxies = trustedProxies(config.trustedProxies);
  const recipient = { at: ORIGIN, proxies, local: isLocal(config) };
  // Codes are redeemed at the same server from which keys are fetched: at the internal URL, if one is configured.
  const send = heardBy(clocks, outside.openSend({ at: new URL(url).origin }));
  const signIn = openSignIn({ ...parts, brand, jwks, tokens, send, recipient });
  const configured = createSpaces(config, schemes, signIn, clock, unasked);
  const standing = createStanding(feed);
  const playground = await outside.openPlayground?.({
    config,
    jwks,
    schemes: partsOfSchemes,
    people: signIn,
    brand,
    errors,
    standing,
    recipient,
    ending: parts.ending,
  });
  const spaces = playground ? joinSpaces(playground.spaces, configured) : configured;
  const ofSchemes = await endpointsOfSchemes(SCHEMES, partsOfSchemes, configured.all, recipient);

  const identified = config.spaces.some(isStated) ? await openIdentity(parts) : undefined;

  const { maxBytes, memory, quota } = config.documents;
  const folder = join(config.data, 'content');
  const disk = openDisk({
    folder,
    trees: stores.trees,
    limits: stores.limits,
    maxBytes,
    memory,
    quota,
    clock,
    random,
    log,
  });
  const locks = createLockSystem({ clock, random });
  const made = new MadeMemory(memory * FOR_MADE);
  const served: Readonly<Record<Space['serves'], ServedResources | undefined>> = {
    documents: documents({
      ...disk,
      locks,
      kept: stores.kept,
      made,
      brand,
      clock,
      treeClock: stores.trees.clock,
      random,
      maxBytes,
    }),
    identity,
    verify: undefined,
    upstream: undefined,
    push: undefined,
  };
  const resources = new Map<Space, ServedResources>();
  for (const space of [...spaces.all, ...(playground?.reached.all ?? [])]) {
    const serves = served[space.serves];
    if (serves) resources.set(space, serves);
  }
  const push = config.spaces.some(({ serves }) => serves === 'push')
    ? createPush({
        ...parts,
        access: { ...parts, longestLife: longestLife(config) },
        standing,
        vapid: createVapid(parts),
        news: createNews(stores.push),
        secureOrigin: config.tls?.resource,
        idleTimeout: config.server.idleTimeout * 1000,
      })
    : undefined;
  const caches = await openCaches(spaces.all, {
    data: config.data,
    stores,
    clock,
    random,
    log,
  });
  const gateways = await openGateways(spaces.all, config, {
    caches: caches.of,
    clock,
    random,
    log,
    errors,
    proxies,
    standing,
    statements: identified?.statements,
  });
  // The playground's gateways open with their first request.
  await Promise.all([...gateways.values()].map((gateway) => gateway.open()));
  const webSockets = [...gateways.values()].some((gateway) => gateway.webSockets);
  // Without keys every token is answered 503, so readiness must fail for load balancers.
  const readyWithKeys: Ready = async (need = 'all', asks) => {
    await ready(need, asks);
    asks?.('the disk with content');
    await disk.check(need);
    asks?.(`the keys of the issuer at ${url}`);
    if (config.spaces.some(takesTokens) || gnapSpaces(config).length > 0) await jwks.ready();
  };
  const ordered = {
    config,
    brand,
    errors,
    resources,
    gateways,
    standing,
    signIn,
    ready: readyWithKeys,
    clock,
    recipient,
    gatewayJwks: identified?.jwks,
  };
  const orderAt = (at: Config) =>
    createOrder({ ...ordered, config: at, spaces, push, ofSchemes, playground, log });
  const order = orderAt(config);
  playground?.serveBy(
    createOrder({
      ...ordered,
      gateways: playground.gateways,
      push: playground.push,
      spaces: playground.reached,
      ofSchemes: new Map(),
      recipient: playground.recipient,
      log: silentLog,
    }),
  );
  const app = hasPlayground(config)
    ? playground
      ? playground.atEachOrigin(orderAt)
      : (await import('./playground/pass-on.ts')).passingOn(order, {
          config,
          recipient,
          errors,
          random,
          log,
        })
    : order;

  const sweeps = [
    { name: 'sweep.store', seconds: SWEEP_STORE, run: () => stores.sweep() },
    { name: 'sweep.trees', seconds: SWEEP_STORE, run: () => disk.clear() },
    { name: 'sweep.content', seconds: SWEEP_CONTENT, run: () => disk.sweep(LEFTOVER_AGE) },
    ...(push ? [{ name: 'sweep.push', seconds: SWEEP_PUSH, run: () => push.sweep() }] : []),
  ];
  const { proxy, tls } = config;
  const holds = new AsyncDisposableStack();
  holds.use(caches);
  if (playground) holds.use(playground);
  const boundTo = isBound(config) ? tls?.resource : undefined;
  const handler = logged<AnyRequest, AnyResponse>(app, {
    log,
    clock,
    random,
    trusted: proxies,
    secret: spaces.all.flatMap(({ serves, url: at }) =>
      serves === 'push' ? new URL(at).pathname : [],
    ),
  });
  const forward = {
    address: config.listen.proxy,
    schemes: proxy?.secondFactor ? unasked : schemes,
    network,
    seeming: handler,
    limits: configuredLimits(config, proxy?.hide ? TICKETS : FORWARDING),
    log,
    errors,
    clock,
    random,
    standing,
  };
  const refusalAt: RefusalAt = (asked, refusal) =>
    isVerify(asked) ? { ...refusal, status: verdictStatus(refusal.status) } : refusal;
  return {
    beside: [
      ...(tls
        ? [
            overTls({
              name: 'resourceTls',
              files: tls,
              limits: TICKETS,
              boundTo,
              handler,
              webSockets,
              refusalAt,
              ...parts,
            }),
          ]
        : []),
      ...(proxy ? [besideAsProxy({ ...forward, config: proxy })] : []),
    ],
    limits: TICKETS,
    handler,
    http2: handler,
    webSockets,
    refusalAt,
    ready: readyWithKeys,
    clockDifference: clocks.difference,
    chores: [...(identified?.chores ?? []), ...caches.chores, ...(WORKER === 1 ? sweeps : [])],
    holds,
  };
}

/** Passes the Date of each answer to the clocks. */
function heardBy({ hear }: IssuerClock, send: Send): Send {
  return async (message) => {
    const heard = hear();
    const reply = await send(message);
    heard(reply.fields);
    return reply;
  };
}

/** True if the space's application gets statements about the caller. */
function isStated({ schemes, upstream }: SpaceConfig): boolean {
  return schemes.length > 0 && upstream !== undefined && upstream.identity.includes('statement');
}

/** True if some space has a scheme that is bound to the origin. */
function isBound({ spaces }: Config): boolean {
  const had = new Set<string>(spaces.flatMap(({ schemes }) => schemes));
  const entries: readonly SchemeEntry[] = SCHEMES;
  return entries.some(({ name, originBound }) => originBound && had.has(name));
}

/** Returns the options for requests to the token issuer, whose certificate is generated in development. */
async function wayToIssuer({ config, clock, random }: Parts): Promise<SendOptions> {
  const { privateTokens } = config;
  if (privateTokens?.url !== undefined) return { at: privateTokens.url };
  if (privateTokens === undefined || !ownsTokenOrigin(config)) return {};
  if (privateTokens.certificate !== undefined) return {};
  const { cert } = await certificateOf(config, privateTokens, clock, random);
  return { ca: cert };
}

/** True if requests in clear text come only from this machine, and through no proxy, including this server's own. */
function isLocal(config: Config): boolean {
  const { listen, proxy, trustedProxies: trusted } = config;
  const { host } = listenerOf(config, 'resource');
  const hosts = proxy ? [host, listen.proxy.host] : [host];
  return hosts.every(isLoopback) && trusted.length === 0;
}
