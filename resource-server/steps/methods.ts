/** Makes the decisions before authentication that depend only on the method and the address. */
import { checkMethod } from '#shared/http/method-rules.ts';
import { CACHE_METHODS, SERVED } from '#shared/http/methods.ts';
import { aboutEndpoint, aboutServer } from '#shared/server/endpoints/by-address.ts';
import { holdFields } from '#shared/server/message/message.ts';
import { optionsAnswer } from '#shared/server/endpoints/options-answer.ts';
import type { Step } from '../exchange/exchange.ts';
import { maxForwards } from '../forwarding/max-forwards.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PushService } from '../push/push.ts';
import type { ServedResources } from '../resources/resource/resource.ts';
import { accepted, optionsFields } from '../space/options.ts';
import type { Space, Spaces } from '../space/spaces.ts';

/** Throws 400 for a malformed Max-Forwards, although this server does not forward these requests. */
export const readable: Step = ({ request }) => {
  maxForwards(request);
  return undefined;
};

/**
 * Throws 501 for a method that no address supports (RFC 9110 section 15.6.2). Methods of hidden spaces exist only
 * there.
 */
export function unknownMethod({ seen, all }: Spaces): Step {
  const known = knownIn(seen);
  const knownWithHidden = knownIn(all);
  return ({ request: { method = '' }, hidden }) => {
    checkMethod(method, { known: hidden ? knownWithHidden : known });
    return undefined;
  };
}

function knownIn(spaces: readonly Space[]): ReadonlySet<string> {
  return new Set([...SERVED, ...spaces.flatMap(ownMethods)]);
}

/** Returns the methods that only some spaces support. */
function ownMethods({ methods, purge }: Space): readonly string[] {
  return [...(methods ?? []), ...(purge ? CACHE_METHODS : [])];
}

interface Behind {
  readonly spaces: Spaces;
  readonly resources: ReadonlyMap<Space, ServedResources>;
  readonly gateways: ReadonlyMap<Space, Gateway>;
  readonly push?: Pick<PushService, 'methods'> | undefined;
}

/** Answers preflights, OPTIONS without authentication (server, endpoint, space), and 405 of an endpoint. */
export function options({ spaces, resources, gateways, push }: Behind): Step {
  const traced = spaces.seen.some(({ trace }) => trace);
  // Windows sends OPTIONS to the root before it accesses a path below.
  const ofServer = optionsFields([...SERVED].filter((method) => method !== 'TRACE' || traced));

  return ({ request, target, endpoint, space }) => {
    if (target.form === 'asterisk') return aboutServer(request, ofServer);
    if (endpoint) return aboutEndpoint(request, endpoint, ofServer);
    if (!space || request.method !== 'OPTIONS') return undefined;
    const gateway = gateways.get(space);
    if (gateway && leavesPreflights(space)) return undefined;
    const possible =
      gateway?.methods ??
      resources.get(space)?.possible(target, space) ??
      (space.serves === 'push' ? push?.methods(space, target) : undefined) ??
      [];
    const methods = accepted(space, possible);
    const open = !gateway && isOpen(space, methods) && request.headers.authorization === undefined;
    const told = open ? optionsFields(methods) : undefined;
    return optionsAnswer(request, { cors: space.cors, methods, options: told });
  };
}

/** True if the space leaves authentication, and so preflights, to its application. */
function leavesPreflights({ schemes, corsOrigins }: Space): boolean {
  return schemes.length === 0 && corsOrigins.length === 0;
}

/** True if OPTIONS needs no credentials, as WebDAV clients expect. Hidden spaces always need them. */
function isOpen({ hide }: Space, methods: readonly string[]): boolean {
  return hide === undefined && methods.includes('PROPFIND');
}

/** Lets the endpoint answer. */
export const ofEndpoint: Step = ({ request, response, target, endpoint }) => {
  if (endpoint?.cors) holdFields(response, endpoint.cors.answers(request.headers.origin));
  return endpoint?.answer?.(request, target);
};
