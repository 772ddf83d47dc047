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
  /** The field lines that say who was let in; none for who has no name. */
  readonly identity: (passed: Passed) => Awaitable<Lines>;
  readonly own: OwnNames;
  /** Whether a cookie of that name is ours. */
  readonly isOurs: (name: string) => boolean;
  readonly standing: Standing;
  /** The cache of the answers, if the space has one. */
  readonly cached?: SpaceCache | undefined;
}

/** Passes requests on to the application of one space. */
export interface Gateway {
  /** All methods that are passed on. */
  readonly methods: readonly string[];
  /** Whether it opens WebSockets; to one that does not a handshake is a request. */
  readonly webSockets: boolean;
  /** Opens before the first request what otherwise is opened with it. */
  open(): Promise<unknown>;
  /** Undefined: the client has its answer, or the beginning of it. */
  pass(exchange: Exchange): Awaitable<ResourceAnswer | undefined>;
}

/** Passed on where the operator lists none. */
const USUAL = [...METHODS].filter(([, { served }]) => served).map(([method]) => method);
/** There in any case: OPTIONS, which is passed on; TRACE is answered here, or it would show what the application gets. */
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
  // Nobody reads what is called within a WebSocket.
  const webSockets =
    space.tools === undefined &&
    config.webSockets &&
    createWebSockets(space.url, config.webSockets, parts);
  const requestUpstream = createUpstreamRequest(upstreams, webSockets, config, clock, log);
  const keyless = withoutKeys(space.apiKeyQuery, own.keyParameters);

  /** Whether it may become a WebSocket, which is watched as one. */
  const isHandshake = (request: AnyRequest) =>
    webSockets !== false && upgradeOf(request) !== undefined;
  const watchOf = ({ watch }: Exchange) => (config.streams === 'finish' ? undefined : watch);

  /** Returns the answer that needs no application, if there is one. */
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

  /** Path and query as the client spells them, without API keys of ours. */
  function targetOf({ url = '' }: AnyRequest): string {
    return originForm(keyless(url));
  }

  /** Passes an answer of the application to the client as it comes, with `more` lines of ours. */
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

  /** Asks the application; what it answers goes to the sink. `change`: of the lines of the request. */
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

  /** The lines that tell the application who was let in, or how. */
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

/** All that the application may be told of who was let in, since its answer may depend on it; empty: there is nobody. */
function whoseOf(passed: Passed): string {
  const account = accountOf(passed.principal);
  return account === ANONYMOUS ? '' : JSON.stringify([account, identityOf(passed)]);
}

/** Leaves the policy of its pages to the application. */
function leaveToApplication(response: AnyResponse): void {
  for (const name of Object.keys(SECURITY_FIELDS)) response.removeHeader(name);
}

/** Specification 4.4: who filters methods says that it was not the application. */
const notPassed = (allowed: string) =>
  `The gateway passes these methods on at this address: ${allowed}. The application was not asked.`;

function atGateway(error: HttpError, request: AnyRequest): HttpError {
  const detail = `The gateway has no answer of the application to pass on. ${error.message} The request is ${requestId(request)}.`;
  return Object.assign(new HttpError(error.status, detail), { reason: whyOf(error) });
}

/**
 * Makes of a target the same without the API keys in its query, in whatever spelling; the rest stays as it came. `own`: the parameter in
 * which the space itself takes keys, which is removed whatever it has. `every`: those in which some space does, which
 * are removed where they have a key of ours.
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
 * Returns the field that an application behind us needs for Concealed, since the TLS connection ends here (RFC 9729
 * section 6). Returns no field for other credentials, or without TLS 1.3. `url`: the origin that the client signed.
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
