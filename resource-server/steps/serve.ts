/** What a space has for a request: of an application behind it, or of its own. */
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { purgesUnasked } from '../cache/purge/listed.ts';
import type { Step } from '../exchange/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Errors } from '../pages/errors.ts';
import type { ServedResources } from '../resources/resource/resource.ts';
import { respond } from '../resources/respond.ts';
import type { Space } from '../space/spaces.ts';

/** Nobody is asked where an application asks for itself, and PURGE and BAN are free for listed networks. */
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

/** What is there, for whoever was let in. The last step: a gateway may have written its answer. */
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
