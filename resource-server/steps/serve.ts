/** Answers a request from its space: from the application behind it, or from its own resources. */
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { purgesUnasked } from '../cache/purge/listed.ts';
import type { Step } from '../exchange/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Errors } from '../pages/errors.ts';
import type { ServedResources } from '../resources/resource/resource.ts';
import { respond } from '../resources/respond.ts';
import type { Space } from '../space/spaces.ts';

/** Skips authentication if the application does it itself, and for PURGE and BAN from listed networks. */
export const unasked =
  (gateways: ReadonlyMap<Space, Gateway>, proxies: TrustedProxies): Step =>
  (exchange) => {
    const { space } = exchange;
    if (space === undefined || !gateways.has(space)) return undefined;
    const { purge, schemes } = space;
    const asks = schemes.length > 0;
    exchange.unasked = (purge && purgesUnasked(exchange, purge, asks, proxies)) || !asks;
    return undefined;
  };

/** Serves a client that was let in. This is the last step: a gateway may have written its answer. */
export const serve =
  (
    gateways: ReadonlyMap<Space, Gateway>,
    resources: ReadonlyMap<Space, ServedResources>,
    failed: Errors['failed'],
  ): Step =>
  (exchange) => {
    const { space, passed, unasked: free } = exchange;
    if (space === undefined || !(passed || free)) throw new Error('nobody was let in');
    const gateway = gateways.get(space);
    if (gateway) return gateway.pass(exchange);
    return respond(exchange, { space, resources: resources.get(space), failed });
  };
