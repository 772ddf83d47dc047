/** Finds where a request leads: into a hidden space, to an endpoint, or into a visible space. */
import { andThen } from '#shared/base/awaitable.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { upgradeOf } from '#shared/server/tunnels/upgrade.ts';
import type { createEndpoints } from '../endpoints/endpoints.ts';
import type { Step } from '../exchange/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { createHiding } from '../space/hiding.ts';
import type { Space } from '../space/spaces.ts';

/** Credentials for a hidden space lead into it, whatever else is at the address (RFC 9729 section 6.4). */
export const hiddenSpace =
  (shownTo: ReturnType<typeof createHiding>): Step =>
  (exchange) => {
    const { origin, target, request, asked } = exchange;
    const { authorization } = request.headers;
    return andThen(shownTo({ request, origin, target, authorization, asked }), (hidden) => {
      if (hidden) Object.assign(exchange, { hidden, space: hidden.space });
      return undefined;
    });
  };

/**
 * Finds the server's own endpoint, which is in no space. From this step on, scripts that may read answers may also read
 * errors.
 */
export const ownEndpoint =
  (endpointAt: ReturnType<typeof createEndpoints>): Step =>
  (exchange) => {
    if (!exchange.hidden) exchange.endpoint = endpointAt(exchange);
    if (exchange.endpoint) exchange.space = undefined;
    exchange.cors = (exchange.endpoint ?? exchange.space)?.cors;
    return undefined;
  };

/**
 * Answers 501 if no WebSocket exists here, since any 2xx to a handshake would mean that it is open (RFC 8441 section
 * 5).
 */
export const webSocket =
  (gateways: ReadonlyMap<Space, Gateway>): Step =>
  ({ request, space }) => {
    if (!upgradeOf(request)?.extended) return undefined;
    if (space && gateways.get(space)?.webSockets) return undefined;
    throw new HttpError(501, 'There is no WebSocket at this address.');
  };

/** Adds the space's CORS fields, which all later answers and errors have. Throws 404 if there is no space. */
export const intoSpace: Step = (exchange) => {
  const { space, request } = exchange;
  if (space === undefined) throw notFound();
  exchange.cors = undefined;
  if (request.method !== 'TRACE') exchange.fields = space.cors.answers(request.headers.origin);
  return undefined;
};
