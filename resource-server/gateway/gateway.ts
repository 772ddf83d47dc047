import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Log } from '#shared/base/log.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { Outcome } from '#shared/auth/scheme.ts';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { type Answer, type Fields, HttpError, methodNotAllowed } from '#shared/http/answer.ts';
import { BadRequest, lines } from '#shared/http/fields.ts';
import { allow, METHODS } from '#shared/http/methods.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import type { Target } from '#shared/http/target.ts';
import { errorAnswer } from '#shared/server/answer.ts';
import { contentOf } from '#shared/server/content.ts';
import { GUARD } from '#shared/server/guard.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message.ts';
import { noteError } from '#shared/server/front-door.ts';
import { requestId } from '#shared/server/request-log.ts';
import { framingLines, framingOf, type Lines, takesTrailers } from '../forwarding/fields.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import { exchangeOf } from '../forwarding/side.ts';
import { maxForwards } from '../max-forwards.ts';
import { accepted, optionsFields } from '../options.ts';
import type { ResourceAnswer } from '../resources/resource.ts';
import { sealedAnswer } from '../resources/seal.ts';
import type { Space } from '../spaces.ts';
import { traceAnswer } from '../trace.ts';
import { clientLines } from './answer-lines.ts';
import { applicationLines, removedFrom } from './application-lines.ts';
import { concealedExport } from './concealed-export.ts';
import { PathMap } from './paths.ts';
import { sendByUndici } from './send-by-undici.ts';
import { type Upstream, Upstreams } from './upstreams.ts';
import { isWithin } from './within.ts';
import { withoutParameter } from './without-parameter.ts';

export interface GatewayParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly proxies: TrustedProxies;
  /** The field lines that say who was let in; none for who has no name. */
  readonly identity: (passed: Passed, config: UpstreamConfig) => Awaitable<Lines>;
  /** Names of cookies that are ours. */
  readonly cookies: ReadonlySet<string>;
}

export type Passed = Pick<Extract<Outcome, { kind: 'pass' }>, 'scheme' | 'principal' | 'seal'>;

/** A request that was let in. */
export interface Passage {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: Target;
  /** Undefined: the space asks nobody. */
  readonly passed: Passed | undefined;
  /** Of our own, for the answer. */
  readonly fields: Fields;
}

/** What passes requests on to the application of one space. */
export interface Gateway {
  /** All methods that are passed on. */
  readonly methods: readonly string[];
  /** Undefined: the client has its answer, or the beginning of it. */
  pass(passage: Passage): Promise<ResourceAnswer | undefined>;
}

/** Passed on where the operator lists none. TRACE would show the application's fields, ours among them. */
const USUAL = [...METHODS].filter(([, { served }]) => served).map(([method]) => method);

export function createGateway(space: Space, config: UpstreamConfig, parts: GatewayParts): Gateway {
  const { clock, random, log, proxies, identity, cookies } = parts;
  const upstreams = new Upstreams(config, clock);
  const [first = ''] = upstreams.all.map(({ url }) => url.pathname);
  const map = new PathMap(new URL(space.url).pathname, first);
  const pseudonym = `countersign-${random(6).toString('hex')}`;
  const removed = removedFrom(space, config);
  const { apiKeyQuery: keyName } = space;
  const listed = new Set(space.methods ?? USUAL);
  if (listed.has('GET')) listed.add('HEAD');
  const possible = [...listed].filter((name) => name !== 'OPTIONS' && name !== 'TRACE');
  const methods = accepted(space, possible);
  const patience = config.timeout * 1000;

  /** What is answered without the application; undefined: nothing. */
  async function answerHere(request: AnyRequest): Promise<Answer | undefined> {
    const { method = '' } = request;
    if (method === 'TRACE' && space.trace) {
      return traceAnswer(request, [space.trace.hide, space.apiKeyField ?? []].flat());
    }
    if (!methods.includes(method)) throw notPassed(methods);
    if (maxForwards(request) === 0) return { status: 204, fields: optionsFields(methods) };
    return undefined;
  }

  async function send(passage: Passage, identified: Lines): Promise<void> {
    const { request, response, passed, fields } = passage;
    const { method = '' } = request;
    const client = hostsOf(request, space);
    let tried: Upstream | undefined;
    let begun = false;
    for (;;) {
      const upstream = upstreams.pick(tried);
      const { url } = upstream;
      const theirs = new Set([...upstreams.all.map((one) => one.url.host), client]);
      const passing = new PassingAnswer({
        request,
        response,
        fields,
        ...(passed?.seal && { seal: passed.seal }),
        info: space.at.info,
        pseudonym,
        back(given, status) {
          begun = true;
          // What an application's pages may do is for it to say.
          for (const name of Object.keys(GUARD)) response.removeHeader(name);
          const ownsCors = space.schemes.length > 0 || space.corsOrigins.length > 0;
          const ours = space.origin;
          return clientLines(given, status, { map, theirs, ours, methods, ownsCors, cookies });
        },
      });
      const head: Lines = [
        ...applicationLines({
          request,
          space,
          config,
          map,
          removed,
          scheme: passed?.scheme,
          proxies,
          pseudonym,
          cookies,
          requestId: requestId(request),
          url,
        }),
        ...identified,
      ];
      const state = { touched: false, consumed: false };
      upstream.busy += 1;
      exchangeOf(response).once('close', () => (upstream.busy -= 1));
      try {
        await once(upstream, passage, head, passing, state);
        upstream.worked();
        return;
      } catch (error) {
        if (!passing.wanted || !(error instanceof HttpError)) throw error;
        upstream.failed(clock.now());
        const again =
          tried === undefined &&
          !begun &&
          !state.consumed &&
          error.status === 502 &&
          (!state.touched || METHODS.get(method)?.idempotent === true);
        if (!again) throw atGateway(error, request);
        tried = upstream;
      }
    }
  }

  function once(
    { agent, pool, url }: Upstream,
    { request, response }: Passage,
    head: Lines,
    passing: PassingAnswer,
    state: { touched: boolean; consumed: boolean },
  ): Promise<void> {
    const { method = '', url: target = '' } = request;
    const path = map.onward(keyName === undefined ? target : withoutParameter(target, keyName));
    const framing = framingOf(request);
    // Content is read once there is a connection to send it over.
    const touched = () => {
      state.touched = true;
      state.consumed = framing !== undefined && framing !== '0';
    };
    if (needsNode(request, framing)) {
      const more: Lines = [...head, ...framingLines(framing, method)];
      const [trailer] = lines(request.rawHeaders, 'trailer');
      if (framing === 'chunked' && trailer !== undefined) more.push(['Trailer', trailer]);
      if (takesTrailers(request)) more.push(['TE', 'trailers'], ['Connection', 'TE']);
      if (request.headers.expect !== undefined) more.push(['Expect', '100-continue']);
      const { hostname: host, port, protocol } = url;
      const way = { agent, host, port, protocol };
      return sendByNode(
        { request, response, way, path, lines: more, idle: config.timeout, touched },
        passing,
      );
    }
    const body = framing === undefined || framing === '0' ? undefined : contentOf(request);
    const length: Lines = framing === undefined ? [] : [['Content-Length', framing]];
    return sendByUndici(
      {
        pool,
        method,
        path,
        lines: [...head, ...length],
        body,
        patience,
        touched,
        left: (leave) => exchangeOf(response).once('close', leave),
      },
      passing,
    );
  }

  async function passOn(passage: Passage): Promise<Answer | undefined> {
    const { request, target, passed } = passage;
    if (!isWithin(space, request.url ?? '', target)) {
      throw new BadRequest('The request target can be read in more than one way.');
    }
    const here = await answerHere(request);
    if (here !== undefined) return here;
    if (lines(request.rawHeaders, 'via').some((via) => via.includes(pseudonym))) {
      throw new HttpError(508, 'This request has been here before.');
    }
    const exported = config.concealedExport ? concealedExport(request, space.origin) : [];
    const identified = passed === undefined ? [] : await identity(passed, config);
    await send(passage, [...exported, ...identified]);
    return undefined;
  }

  return {
    methods: possible,
    async pass(passage) {
      const { request, response, passed, fields } = passage;
      const answer = await passOn(passage).catch((error: unknown) => {
        if (exchangeOf(response).destroyed) return undefined;
        noteError(request, error, log);
        return errorAnswer(error);
      });
      if (answer === undefined) return undefined;
      const whole = { ...answer, fields: { ...answer.fields, ...fields } };
      return sealedAnswer(request, whole, passed?.seal, space.at.info);
    },
  };
}

/** Content of these goes with undici; with others it may be taken for the next request. */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/** Trailers and `Expect` of a request need node:http, and so does content where none is expected. */
function needsNode(request: AnyRequest, framing: string | undefined): boolean {
  const { method = '', headers } = request;
  if (framing === 'chunked' || headers.expect !== undefined || headers['te'] !== undefined)
    return true;
  return framing !== undefined && framing !== '0' && !WITH_CONTENT.has(method);
}

/** Specification 4.4: who filters methods says that it was not the application. */
function notPassed(methods: readonly string[]): HttpError {
  const { status, fields } = methodNotAllowed(allow(methods));
  return new HttpError(
    status,
    `The gateway passes these methods on at this address: ${allow(methods)}. The application was not asked.`,
    fields,
  );
}

function atGateway({ status, message, cause }: HttpError, request: AnyRequest): HttpError {
  const detail = `The gateway got no answer from the application. ${message} The request is ${requestId(request)}.`;
  return Object.assign(new HttpError(status, detail), { cause });
}

/** The host by which the client came. */
function hostsOf({ headers }: AnyRequest, space: Space): string {
  return String(headers[':authority'] ?? headers.host ?? new URL(space.origin).host);
}
