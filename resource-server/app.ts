import { TLSSocket } from 'node:tls';
import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { refusal } from '#shared/auth/refusal.ts';
import { admitted } from '#shared/server/admitted.ts';
import { authRequest, type Recipient } from '#shared/server/auth-request.ts';
import type { AuthRequest, Outcome } from '#shared/auth/scheme.ts';
import type { Standing, Who } from '#shared/auth/standing.ts';
import { note, shownId } from '#shared/server/request-log.ts';
import type { Config } from '#shared/config/schema.ts';
import { SIGN_IN_PREFIX } from '#shared/config/sign-in-clients.ts';
import { CACHE_METHODS, SERVED } from '#shared/http/methods.ts';
import {
  originForm,
  parsePassedTarget,
  parseTreeTarget,
  type Target,
} from '#shared/http/target.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { EVERYBODY, isPreflight, preflight } from '#shared/server/cors.ts';
import { type Answer, HttpError, notFound } from '#shared/http/answer.ts';
import type { Brand } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import { errorAnswer } from '#shared/server/answer.ts';
import { type Endpoint, READ } from '#shared/server/endpoint.ts';
import { frontDoor } from '#shared/server/front-door.ts';
import { createServe } from '#shared/server/serve.ts';
import { strictTransport } from '#shared/server/guard.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message.ts';
import { misdirection } from '#shared/server/misdirected.ts';
import { upgradeOf } from '#shared/server/upgrade.ts';
import { validated } from '#shared/server/validated.ts';
import { isListed } from './cache/purge/listed.ts';
import { breakOff, exchangeOf, sideOf } from './answers/side.ts';
import { forwardedOrigin } from './forwarding/forwarded-origin.ts';
import { createHiding, type Shown } from './space/hiding.ts';
import type { Gateway } from './gateway/gateway.ts';
import { JWKS_PATH } from './gateway/identity/jwks.ts';
import { onKoa } from './answers/koa.ts';
import { maxForwards } from './forwarding/max-forwards.ts';
import type { Errors } from './pages/errors.ts';
import { homePage } from './pages/views/home.ts';
import { accepted, optionsFields } from './space/options.ts';
import type { ResourceAnswer } from './answers/pieces.ts';
import type { ServedResources } from './resources/resource.ts';
import { sealedAnswer } from './answers/seal.ts';
import { respond } from './resources/respond.ts';
import type { EndpointsOfSchemes } from './auth/scheme-endpoints.ts';
import type { SignIn } from './sign-in/open-sign-in.ts';
import { leadsInto, type Space, type Spaces } from './space/spaces.ts';
import { createUnderWay, type JudgeAgain } from './exchange/under-way.ts';
import { verify, verifyBrowser } from './endpoints/verify.ts';
import { isMetadata, resourceMetadata } from './endpoints/resource-metadata.ts';

export interface AppParts {
  readonly config: Config;
  readonly spaces: Spaces;
  /** What each space serves; nothing for a space that only `/verify` speaks for. */
  readonly resources: ReadonlyMap<Space, ServedResources>;
  /** Of the spaces that serve an application. */
  readonly gateways: ReadonlyMap<Space, Gateway>;
  readonly standing: Standing;
  readonly ofSchemes: EndpointsOfSchemes;
  readonly signIn: SignIn;
  /** Resolves when the server can do its work. */
  readonly ready: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly errors: Errors;
  readonly brand: Brand;
  readonly recipient: Recipient;
  /** The gateway's keys, where it states who was let in. */
  readonly gatewayJwks?: Endpoint | undefined;
}

/**
 * The resource server: past the front door each request goes through `handle`, and in a space through `enter`,
 * from top to bottom.
 */
export function createApp(parts: AppParts) {
  const { config, spaces, resources, gateways, standing, ofSchemes, signIn, ready } = parts;
  const { clock, log, errors, brand, recipient } = parts;
  const traced = spaces.seen.some(({ trace }) => trace);
  const shownTo = createHiding(spaces, standing);
  /** By request, the hidden space that its credentials are good for. */
  const shown = new WeakMap<AnyRequest, Shown>();
  const underWay = createUnderWay(standing, clock);
  const somewhere = [...SERVED].filter((method) => method !== 'TRACE' || traced);

  /** What is at no endpoint is in a space. */
  function handle(request: AnyRequest, response: AnyResponse, target: Target): Awaitable<void> {
    maxForwards(request); // nobody is behind this server, but what is malformed is 400
    const origin = originOf(request);
    const { authorization } = request.headers;
    const sought = { origin, target, authorization, asked: () => asked(request, origin) };
    return andThen(shownTo(sought), (hidden) => {
      const endpoint = hidden ? undefined : endpointAt(target, origin, request);
      const space = hidden?.space ?? (endpoint ? undefined : spaces.find(origin, target.segments));
      // Any answer of 2xx would say that it is open (RFC 8441 section 5).
      if (upgradeOf(request)?.extended && !(space && gateways.get(space)?.webSockets)) {
        throw noWebSocket();
      }
      if (hidden) {
        shown.set(request, hidden);
        return serveHidden(request, response, target, undefined, hidden.space.cors);
      }
      return serve(request, response, target, endpoint, space?.cors);
    });
  }

  function asked(request: AnyRequest, origin: string): AuthRequest {
    const { method = '', url: target = '' } = request;
    return authRequest(request, { method, target, origin }, recipient);
  }

  /** Which of the two origins was asked: that of TLS is where this server ends TLS itself. */
  function originOf({ socket }: AnyRequest): string {
    return config.tls && socket instanceof TLSSocket ? config.tls.resource : config.resource;
  }

  const inSpace = onKoa(
    (request, response, target: Target) =>
      recover<ResourceAnswer | undefined>(
        () => enter(request, response, target),
        (error) => errors.failed(request, error),
      ),
    log,
  );

  /** A space: who may enter it, and its resources. */
  function enter(
    request: AnyRequest,
    response: AnyResponse,
    target: Target,
  ): Awaitable<ResourceAnswer | undefined> {
    const hidden = shown.get(request);
    const space = hidden?.space ?? spaces.find(originOf(request), target.segments);
    if (space === undefined) throw notFound();
    const { method = '', headers } = request;
    const served = resources.get(space);
    const gateway = gateways.get(space);
    const arrived = clock.monotonic();
    const possible = () =>
      accepted(space, gateway?.methods ?? served?.possible(target, space) ?? []);
    const cors = method === 'TRACE' ? {} : space.cors.answers(headers.origin);
    if (gateway && (purgesFreely(space, request) || space.schemes.length === 0)) {
      if (isPreflight(request) && space.corsOrigins.length > 0) {
        return preflight(space.cors, request, possible());
      }
      return gateway.pass({ request, response, target, passed: undefined, arrived, fields: cors });
    }
    if (isPreflight(request)) return preflight(space.cors, request, possible());
    if (
      !gateway &&
      method === 'OPTIONS' &&
      isOpen(space, possible()) &&
      headers.authorization === undefined
    ) {
      return { status: 204, fields: { ...optionsFields(possible()), ...cors } };
    }
    if (hidden) note(request, hidden.noted);
    const told = asked(request, space.origin);
    const mark = hidden?.mark ?? standing.mark();
    const judged = hidden?.outcome ?? admitted(request, space, told);
    return andThen<Outcome, ResourceAnswer | undefined>(judged, (outcome) => {
      if (outcome.kind === 'absent') throw notFound();
      if (outcome.kind === 'answer') {
        const path = originForm(told.target);
        const instead = signIn.instead({
          url: space.url,
          request: told,
          path,
          outcome,
          id: shownId(request),
        });
        const answer = instead
          ? { ...instead, fields: { ...instead.fields, ...cors } }
          : errors.told(request, refusal(outcome, cors));
        return sealedAnswer(request, answer, outcome.seal, space.at.info);
      }
      const { scheme, principal, seal } = outcome;
      const fields = { ...outcome.fields, ...cors };
      const who = { passed: outcome, mark };
      if (gateway) {
        const passage = { request, response, target, passed: outcome, mark, arrived, fields };
        return gateway.pass({ ...passage, watch: () => void watch(who, request, response) });
      }
      const judgeAgain = watch(who, request, response);
      const context = { request, space, target, scheme, principal, judgeAgain };
      return respond(context, { resources: served, fields, seal, failed: errors.failed });
    });
  }

  /** What lets somebody in and is revoked lets nothing go on. */
  function watch(who: Who, request: AnyRequest, response: AnyResponse): JudgeAgain {
    return underWay(who, exchangeOf(response), (reason) => {
      note(request, { reason });
      breakOff(sideOf(request));
    });
  }

  /** Whether it needs no credentials for PURGE or BAN. Throws HttpError 403 where there are none. */
  function purgesFreely({ purge, schemes, origin }: Space, request: AnyRequest): boolean {
    if (!purge || !CACHE_METHODS.includes(request.method ?? '')) return false;
    const listed = isListed(purge.networks, asked(request, origin), recipient.proxies);
    if (!listed && schemes.length === 0) {
      throw new HttpError(403, 'PURGE and BAN are for listed networks alone.');
    }
    return listed;
  }

  // At the origin of TLS all is there once more.
  const announced = spaces.seen.filter(({ origin }) => origin !== config.tls?.resource);
  const home: Endpoint = {
    methods: READ,
    answer({ headers }) {
      const language = languageOf(headers['accept-language']);
      return homePage({ brand, language }, config, announced);
    },
  };
  const judging = { spaces, signIn, shownTo, recipient };
  /** A proxy may hand the answer on to a person. */
  const tellAll = (request: AnyRequest, answer: Awaitable<Answer>) =>
    andThen(answer, (given) => errors.told(request, given));
  const forwardAuthentication: Endpoint = {
    methods: READ,
    answer: (request) => tellAll(request, verify(request, judging)),
  };
  const browserAuthentication: Endpoint = {
    methods: READ,
    answer: (request) => tellAll(request, verifyBrowser(request, judging)),
  };
  const metadata: Endpoint = {
    methods: READ,
    cors: EVERYBODY,
    answer(request, target) {
      return validated(
        request,
        resourceMetadata(config, spaces, publicOrigin(request, originOf(request)), target),
      );
    },
  };
  /** That of an application, where a trusted proxy hands on what is for us (`/.well-known/`, `/.countersign/`). */
  function publicOrigin({ socket, rawHeaders }: AnyRequest, own: string): string {
    const trusted = recipient.proxies.has(socket.remoteAddress ?? '');
    return (trusted ? forwardedOrigin(rawHeaders) : undefined) ?? own;
  }
  const origins = [config.resource, ...(config.tls ? [config.tls.resource] : [])];
  const strict = new Map(
    origins.map((origin) => [origin, strictTransport(origin, recipient.proxies)]),
  );
  const hasHome = spaces.find(config.resource, []) === undefined;

  /** The addresses of the server's own, outside every space. */
  function endpointAt(target: Target, origin: string, request: AnyRequest): Endpoint | undefined {
    if (isMetadata(target)) return metadata;
    if (target.path === '/verify') return forwardAuthentication;
    if (target.path === '/verify/browser') return browserAuthentication;
    if (target.segments[0] === SIGN_IN_PREFIX) {
      const named = publicOrigin(request, origin);
      const ours = signIn.endpointAt(target.path, named);
      if (ours === undefined && signIn.has(named)) throw notFound();
      if (ours) return ours;
    }
    if (target.path === JWKS_PATH) return parts.gatewayJwks;
    if (target.path === '/' && hasHome) return home;
    return ofSchemes.get(origin)?.get(target.path);
  }

  const serveAmong = (shownSpaces: readonly Space[]) =>
    createServe({
      handled: new Set([...SERVED, ...shownSpaces.flatMap(ownMethods)]),
      // Windows asks the root what the server is before it looks below it.
      options: optionsFields(somewhere),
      recipient,
      ready,
      behind: inSpace,
    });
  const serve = serveAmong(spaces.seen);
  const serveHidden = serveAmong(spaces.all);

  /**
   * Within a tree of documents a doubled slash is one, and a name may have a carriage return. What comes below a
   * space of an application is for that to read.
   */
  function parse(request: AnyRequest): Target | undefined {
    const { url = '' } = request;
    const target = parsePassedTarget(url);
    if (target?.odd === undefined) return target;
    const space = spaces.find(originOf(request), target.segments);
    const meant = space?.upstream ? target : parseTreeTarget(url);
    return space && meant && leadsInto(space, meant) ? meant : undefined;
  }

  return frontDoor(handle, {
    parse,
    refuseMisdirected: misdirection(origins, recipient.proxies),
    // What a proxy is told goes on to clients of another origin.
    fields: (request, { segments: [first = ''] }) =>
      HANDED_ON.has(first) ? {} : (strict.get(originOf(request))?.(request) ?? {}),
    log,
    answer: (error, request) => errors.told(request, errorAnswer(error)),
  });
}

/** Where what we answer may go on to clients of another origin. */
const HANDED_ON: ReadonlySet<string> = new Set(['verify', SIGN_IN_PREFIX]);

const noWebSocket = () => new HttpError(501, 'There is no WebSocket at this address.');

/** Those that only some spaces have. */
function ownMethods({ methods, purge }: Space): readonly string[] {
  return [...(methods ?? []), ...(purge ? CACHE_METHODS : [])];
}

/** Clients of WebDAV ask for the options before they have credentials; what is hidden stays so. */
function isOpen({ hide }: Space, possible: readonly string[]): boolean {
  return hide === undefined && possible.includes('PROPFIND');
}
