import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import { SIGN_IN_PREFIX } from '#shared/config/sign-in-clients.ts';
import { problemAnswer } from '#shared/http/answer.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { frontDoor } from '#shared/server/front-door/front-door.ts';
import { strictTransport } from '#shared/server/front-door/security-fields.ts';
import { holdFields } from '#shared/server/message/message.ts';
import { misdirection } from '#shared/server/front-door/misdirected.ts';
import { onKoa } from './answers/koa.ts';
import type { ResourceAnswer } from './answers/pieces.ts';
import { createEndpoints, type EndpointParts } from './endpoints/endpoints.ts';
import { isVerify, verdictStatus } from './endpoints/verdict-status.ts';
import { createOpen, type Exchange, type Step } from './exchange/exchange.ts';
import { createJudgeLate, createUnderWay } from './exchange/under-way.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { PushService } from './push/push.ts';
import type { ServedResources } from './resources/resource/resource.ts';
import { createHiding } from './space/hiding.ts';
import type { Space } from './space/spaces.ts';
import { admit, stillAdmitted } from './steps/admit.ts';
import { hiddenSpace, intoSpace, ownEndpoint, webSocket } from './steps/find.ts';
import { ofEndpoint, options, readable, unknownMethod } from './steps/methods.ts';
import { serve, unasked } from './steps/serve.ts';
import { tools } from './steps/tools.ts';

export interface OrderParts extends Omit<EndpointParts, 'shownTo'> {
  /** The resources of each space. A space that is used only through `/verify` has none. */
  readonly resources: ReadonlyMap<Space, ServedResources>;
  /** The gateway of each space with an application. */
  readonly gateways: ReadonlyMap<Space, Gateway>;
  /** The push service, if some space serves one. */
  readonly push?: PushService | undefined;
  readonly standing: Standing;
  readonly clock: Clock;
  readonly log: Log;
}

/** First path segments below which a proxy may pass our answers on to clients of another origin. */
const HANDED_ON: ReadonlySet<string> = new Set(['verify', SIGN_IN_PREFIX]);

/** Returns the steps of a request to the resource server, in order. */
function stepsOf(parts: OrderParts): readonly Step[] {
  const { spaces, resources, gateways, push, standing, clock, errors, recipient } = parts;
  const shownTo = createHiding(spaces, standing);
  const hides = spaces.seen.length < spaces.all.length;
  const asksForTools = spaces.all.some((space) => space.tools !== undefined);
  const opens = [...gateways.values()].some((gateway) => gateway.webSockets);
  return [
    readable, // 400
    ...(hides ? [hiddenSpace(shownTo)] : []),
    ownEndpoint(createEndpoints({ ...parts, shownTo })),
    ...(opens ? [webSocket(gateways)] : []), // 501
    unknownMethod(spaces), // 501
    options({ spaces, resources, gateways, push }), // answers preflights, OPTIONS, and 405 of an endpoint
    ofEndpoint,
    intoSpace, // 404
    unasked({ gateways, push, proxies: recipient.proxies }),
    admit({ ...parts, underWay: createUnderWay(standing, clock) }), // answers 401 and 403, or starts a sign-in
    ...(asksForTools ? [tools(parts)] : []), // answers 403 for a tool
    stillAdmitted(createJudgeLate(standing, clock)), // 403
    serve({ gateways, resources, push, failed: errors.failed }), // answers 404 and 405 of a resource
  ];
}

/** Creates the resource server with its `frontDoor`, which answers 400 for a malformed target, and 421. */
export function createOrder(parts: OrderParts) {
  const { config, log, errors, recipient } = parts;
  const { proxies } = recipient;
  const steps = stepsOf(parts);

  const origins = [config.resource, ...(config.tls ? [config.tls.resource] : [])];
  const strict = new Map(origins.map((origin) => [origin, strictTransport(origin, proxies)]));
  const answerTo = (exchange: Exchange) => inOrder(steps, exchange);
  return frontDoor(onKoa(answerTo, log), {
    open: createOpen(parts),
    refuseMisdirected: misdirection(origins, proxies),
    // A proxy passes these answers on to clients of another origin, to which our TLS policy must not apply.
    fields({ request, origin, target }) {
      const [first = ''] = target.segments;
      return HANDED_ON.has(first) ? {} : (strict.get(origin)?.(request) ?? {});
    },
    log,
    answer(error, request, exchange) {
      const { cors } = exchange ?? {};
      if (exchange && cors) holdFields(exchange.response, cors.errors(request.headers.origin));
      const told = errorAnswer(error);
      const { status, detail = '' } = told;
      const verdict = isVerify(request.url ?? '') ? verdictStatus(status) : status;
      return errors.told(request, verdict === status ? told : problemAnswer(verdict, detail));
    },
  });
}

/**
 * Returns the answer of the first step that has one. Undefined: the last step has written the answer, or its beginning,
 * itself. Throws or rejects as the steps do.
 */
function inOrder(
  steps: readonly Step[],
  exchange: Exchange,
  from = 0,
): Awaitable<ResourceAnswer | undefined> {
  const step = steps[from];
  if (step === undefined) return undefined;
  return andThen(step(exchange), (answer) => answer ?? inOrder(steps, exchange, from + 1));
}
