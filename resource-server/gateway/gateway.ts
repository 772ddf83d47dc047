import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import { BadRequest, lines as valuesIn } from '#shared/http/fields.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import { CACHE_METHODS, METHODS } from '#shared/http/methods.ts';
import { clientAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { originForm } from '#shared/http/target.ts';
import { SECURITY_FIELDS } from '#shared/server/front-door/security-fields.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { requestId } from '#shared/server/message/request-log.ts';
import { upgradeOf } from '#shared/server/tunnels/upgrade.ts';
import { accountOf, ANONYMOUS, holdersOf } from '../space/account.ts';
import { identityOf } from '../space/identity-fields.ts';
import type { Cache } from '../cache/cache.ts';
import type { Exchange, Passed } from '../exchange/exchange.ts';
import type { SpaceCache } from '../cache/open-caches.ts';
import { groupOf } from '#shared/http/spelling.ts';
import { answerLines, type Lines } from '../forwarding/fields.ts';
import { checkPassable, PassingAnswer } from '../forwarding/passing-answer.ts';
import type { Sink } from '../forwarding/sink.ts';
import { exchangeOf } from '../answers/side.ts';
import { maxForwards } from '../forwarding/max-forwards.ts';
import { accepted, optionsFields } from '../space/options.ts';
import type { Errors } from '../pages/errors.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { sealedAnswer } from '../answers/seal.ts';
import type { Space } from '../space/spaces.ts';
import { mergeFields } from '../answers/merge-fields.ts';
import { traceAnswer } from '../space/trace.ts';
import { clientLines } from './answer-lines.ts';
import { createApplicationLines, schemeOf } from './application-lines.ts';
import { createUpstreamRequest, isOfApplication, whyOf } from './upstream-request.ts';
import type { OwnNames } from './own-names.ts';
import { PathMap } from './paths.ts';
import { createRemoval } from './removal.ts';
import { Upstreams } from './upstreams.ts';
import { isWithin } from '../space/within.ts';
import { createWebSockets } from './websocket/web-sockets.ts';
import { isApiKeyLike } from '#shared/people/api-key.ts';
import { AUTH_EXPORT, formatAuthExport } from '#shared/auth/schemes/concealed/auth-export.ts';
import { readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import { EXPORTED, exporterContext, LABEL } from '#shared/auth/schemes/concealed/signed.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { exporterOf } from '#shared/server/endpoints/exporter.ts';

export interface GatewayParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly errors: Errors;
  readonly proxies: TrustedProxies;
  /** Makes the field lines that name the admitted caller. None if the caller has no name. */
  readonly identity: (passed: Passed) => Awaitable<Lines>;
  readonly own: OwnNames;
  /** Whether a cookie with that name belongs to this server. */
  readonly isOurs: (name: string) => boolean;
  readonly standing: Standing;
  /** The cache of the answers, if the space has one. */
  readonly cached?: SpaceCache | undefined;
}

/** Passes requests on to the application of one space. */
export interface Gateway {
  /** All methods that the gateway passes on. */
  readonly methods: readonly string[];
  /** Whether the gateway opens WebSockets. If not, a handshake is an ordinary request. */
  readonly webSockets: boolean;
  /** Loads in advance what the first request would load. */
  open(): Promise<unknown>;
  /** Undefined: the answer, or its beginning, was already sent to the client. */
  pass(exchange: Exchange): Awaitable<ResourceAnswer | undefined>;
}

/** The methods that are passed on if the operator lists none. */
const USUAL = [...METHODS].filter(([, { served }]) => served).map(([method]) => method);
/**
 * Methods that are always present. OPTIONS is passed on. TRACE is answered by the gateway, since the application would
 * reveal the fields that it gets.
 */
const OWN = new Set(['OPTIONS', 'TRACE']);

export function createGateway(space: Space, config: UpstreamConfig, parts: GatewayParts): Gateway {
  const { clock, random, log, errors, proxies, identity, own, isOurs } = parts;
  const { cache, purge } = parts.cached ?? {};
  const upstreams = new Upstreams(config, clock);
  const [first = ''] = upstreams.all.map(({ url }) => url.pathname);
  const map = new PathMap(new URL(space.url).pathname, first, config.forwarded === 'x-forwarded');
  const pseudonym = `countersign-${random(6).toString('hex')}`;
  const purging = new Set(purge ? CACHE_METHODS : []);
  const listed = new Set([...(space.methods ?? USUAL), ...purging]);
  if (listed.has('GET')) listed.add('HEAD');
  const possible = [...listed].filter((name) => !OWN.has(name));
  const methods = accepted(space, possible);
  const returned = {
    map,
    hosts: new Set([new URL(space.origin).host, ...upstreams.all.map(({ url }) => url.host)]),
    ours: space.origin,
    atRoot: space.segments.length === 0,
    methods,
    ownsCors: space.schemes.length > 0 || space.corsOrigins.length > 0,
    isOurs,
  };
  const removalBy = createRemoval(space, config, own, proxies);
  const linesOf = createApplicationLines({
    space,
    config,
    map,
    proxies,
    pseudonym,
    random,
    isOurs,
  });
  // Calls within a WebSocket would not be checked.
  const webSockets =
    space.tools === undefined &&
    config.webSockets &&
    createWebSockets(space.url, config.webSockets, parts);
  const requestUpstream = createUpstreamRequest(upstreams, webSockets, config, clock, log);
  const keyless = withoutKeys(space.apiKeyQuery, own.keyParameters);

  /** Whether a request may become a WebSocket, which is watched separately. */
  const isHandshake = (request: AnyRequest) =>
    webSockets !== false && upgradeOf(request) !== undefined;
  const watchOf = ({ watch }: Exchange) => (config.streams === 'finish' ? undefined : watch);

  /** Returns the answer to a request that the gateway answers without the application, if there is one. */
  function answerHere({
    request,
    watch,
  }: Pick<Exchange, 'request' | 'watch'>): Awaitable<Answer> | undefined {
    const { method = '' } = request;
    if (method === 'TRACE' && space.trace) {
      return traceAnswer(request, [space.trace.hide, space.apiKeyField ?? []].flat());
    }
    checkMethod(method, { methods, told: notPassed });
    if (purge && purging.has(method)) return purge(request, groupOf(targetOf(request)), watch?.());
    if (maxForwards(request) === 0) return { status: 204, fields: optionsFields(methods) };
    return undefined;
  }

  /** Path and query in the client's spelling, without this server's API keys. */
  function targetOf({ url = '' }: AnyRequest): string {
    return originForm(keyless(url));
  }

  /** Makes a sink that passes the application's answer to the client, with the additional lines `more`. */
  function passingTo(
    { request, response, passed, fields }: Exchange,
    more: (status: number) => Lines = () => [],
  ): PassingAnswer {
    return new PassingAnswer({
      request,
      response,
      fields,
      ...(passed?.seal && { seal: passed.seal }),
      info: space.at.info,
      pseudonym,
      back(given, status) {
        leaveToApplication(response);
        return [...clientLines(given, status, returned), ...more(status)];
      },
    });
  }

  /** Asks the application, whose answer goes to the sink. `change`: edits the lines of the request. */
  function send(
    exchange: Exchange,
    sink: Sink,
    change: (lines: Lines) => Lines = (lines) => lines,
  ): Awaitable<void> {
    const { request, passed, mark } = exchange;
    const { url = '' } = request;
    const path = map.onward(keyless(url));
    const removed = removalBy(request, passed?.scheme);
    const holders = holdersOf(passed?.principal, addressOf(request));
    const who = passed && mark && { passed, mark };
    return andThen(identified(exchange), (lines) => {
      const linesFor = (at: URL) => change([...linesOf(request, at, removed), ...lines]);
      const watch = watchOf(exchange);
      const asked = requestUpstream({
        request,
        path,
        linesFor,
        removed,
        sink,
        holders,
        who,
        watch,
      });
      return asked.catch((error: unknown) => {
        throw isOfApplication(error) ? atGateway(error, request) : error;
      });
    });
  }

  function throughCache(
    exchange: Exchange,
    { answer }: Cache,
  ): Awaitable<ResourceAnswer | undefined> {
    const { request, response, passed, arrived } = exchange;
    const answered = answer({
      request,
      arrived,
      target: targetOf(request),
      scheme: schemeOf(request, proxies),
      whose: passed && (space.cache?.kind === 'private' ? whoseOf(passed) : ''),
      exchange: exchangeOf(response),
      linesOf(head) {
        checkPassable(head);
        return clientLines(answerLines(head, pseudonym), head.status, returned);
      },
      passing: (more) => passingTo(exchange, more),
      forward: (sink, change) => send(exchange, sink, change),
    });
    return andThen(answered, (given) => {
      if (given) leaveToApplication(response);
      return given;
    });
  }

  /** The lines by which the application learns the admitted caller, or the caller's proof. */
  function identified({ request, passed }: Exchange): Awaitable<Lines> {
    if (config.concealedExport) return concealedExport(request, space.origin);
    return passed === undefined ? [] : identity(passed);
  }

  function addressOf({ socket, rawHeaders }: AnyRequest): string {
    const before = valuesIn(rawHeaders, 'x-forwarded-for');
    return clientAddress(socket.remoteAddress ?? '', before, proxies);
  }

  function passOn(exchange: Exchange): Awaitable<ResourceAnswer | undefined> {
    const { request, target } = exchange;
    if (!isWithin(space, request.url ?? '', target)) {
      throw new BadRequest('The request target can be read in more than one way.');
    }
    const here = answerHere(exchange);
    if (here !== undefined) return here;
    if (valuesIn(request.rawHeaders, 'via').some((via) => via.includes(pseudonym))) {
      throw new HttpError(
        508,
        'This request has passed this server already: a server behind it sends it back here. Mend the loop.',
      );
    }
    if (cache && !upgradeOf(request)) return throughCache(exchange, cache);
    return andThen(send(exchange, passingTo(exchange)), () => undefined);
  }

  return {
    methods: possible,
    webSockets: webSockets !== false,
    open: () => Promise.all(upstreams.all.map((upstream) => upstream.open())),
    pass(exchange) {
      const { request, response, passed, fields } = exchange;
      if (!isHandshake(request)) watchOf(exchange)?.();
      const answered = recover<ResourceAnswer | undefined>(
        () => passOn(exchange),
        (error) => {
          if (exchangeOf(response).destroyed) return undefined;
          return errors.failed(request, error);
        },
      );
      return andThen(answered, (answer) => {
        if (answer === undefined) return undefined;
        const whole = { ...answer, fields: mergeFields(answer.fields, fields) };
        return sealedAnswer(request, whole, passed?.seal, space.at.info);
      });
    },
  };
}

/**
 * Returns everything about the caller that the application may learn, since its answer may depend on it. Empty: no
 * caller.
 */
function whoseOf(passed: Passed): string {
  const account = accountOf(passed.principal);
  return account === ANONYMOUS ? '' : JSON.stringify([account, identityOf(passed)]);
}

/** Removes the gateway's security fields, so that the application decides about the policy of its pages. */
function leaveToApplication(response: AnyResponse): void {
  for (const name of Object.keys(SECURITY_FIELDS)) response.removeHeader(name);
}

/** The detail of a 405 by the gateway, which must say that the application did not send it (specification 4.4). */
const notPassed = (allowed: string) =>
  `The gateway passes these methods on at this address: ${allowed}. The application was not asked.`;

function atGateway(error: HttpError, request: AnyRequest): HttpError {
  const detail = `The gateway has no answer of the application to pass on. ${error.message} The request is ${requestId(request)}.`;
  return Object.assign(new HttpError(error.status, detail), { reason: whyOf(error) });
}

/**
 * Removes API keys in any spelling from the query of a target, and leaves the rest unchanged. `own`: the parameter of
 * the space itself, which is removed with any value. `every`: the parameters of all spaces, which are removed if their
 * value is one of this server's keys.
 */
export const withoutKeys =
  (own: string | undefined, every: ReadonlySet<string>) =>
  (target: string): string => {
    const mark = target.indexOf('?');
    if (mark === -1 || every.size === 0) return target;
    const isKey = ([name, value]: [string, string]) =>
      name === own || (every.has(name) && isApiKeyLike(value));
    const pairs = target.slice(mark + 1).split('&');
    const kept = pairs.filter((pair) => ![...new URLSearchParams(pair)].some(isKey));
    if (kept.length === pairs.length) return target;
    return target.slice(0, mark) + (kept.length === 0 ? '' : `?${kept.join('&')}`);
  };

/**
 * Returns the field that an application needs to verify Concealed, since the TLS connection ends at the gateway (RFC
 * 9729 section 6). Returns no field for other credentials, or without TLS 1.3. `url`: the origin that the client
 * signed.
 */
function concealedExport(request: AnyRequest, url: string): Lines {
  const { authorization = '' } = request.headers;
  const credentials = parseCredentials(authorization);
  if (credentials?.scheme !== 'concealed') return [];
  const proof = readProof(credentials);
  const exporter = exporterOf(request);
  if (proof === undefined || exporter === undefined) return [];
  const output = exporter(LABEL, exporterContext({ ...proof, url }), EXPORTED);
  return [[AUTH_EXPORT, formatAuthExport(output)]];
}
