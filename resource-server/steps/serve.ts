/** Answers a request from its space: from the application behind it, or from its own resources. */
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { mergeFields } from '../answers/merge-fields.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { purgesUnasked } from '../cache/purge/listed.ts';
import type { Exchange, Step } from '../exchange/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Errors } from '../pages/errors.ts';
import type { PushService } from '../push/push.ts';
import type { ServedResources } from '../resources/resource/resource.ts';
import { respond } from '../resources/respond.ts';
import type { Space } from '../space/spaces.ts';

/**
 * Skips authentication if the application does it itself, if the URL suffices (push service), and for PURGE and BAN
 * from listed networks.
 */
export const unasked =
  ({
    gateways,
    push,
    proxies,
  }: Pick<Served, 'gateways' | 'push'> & { proxies: TrustedProxies }): Step =>
  (exchange) => {
    const { space } = exchange;
    if (space === undefined) return undefined;
    if (push && space.serves === 'push') exchange.unasked = !push.asks(space, exchange);
    if (!gateways.has(space)) return undefined;
    const { purge, schemes } = space;
    const asks = schemes.length > 0;
    exchange.unasked = (purge && purgesUnasked(exchange, purge, asks, proxies)) || !asks;
    return undefined;
  };

export interface Served {
  readonly gateways: ReadonlyMap<Space, Gateway>;
  readonly resources: ReadonlyMap<Space, ServedResources>;
  readonly push: PushService | undefined;
  readonly failed: Errors['failed'];
}

/** Errors also have the fields of the space, such as those that let a script read them (CORS). */
async function respondByPush(
  push: PushService,
  space: Space,
  exchange: Exchange,
  failed: Errors['failed'],
): Promise<ResourceAnswer> {
  const { request, fields } = exchange;
  const answer = await push
    .answer(space, exchange)
    .catch((error: unknown) => failed(request, error));
  return { ...answer, fields: mergeFields(answer.fields, fields) };
}

/** Serves an admitted client. This is the last step, since a gateway may already have written its answer. */
export const serve =
  ({ gateways, resources, push, failed }: Served): Step =>
  (exchange) => {
    const { space, passed, unasked: free } = exchange;
    if (space === undefined || !(passed || free)) throw new Error('nobody was let in');
    const gateway = gateways.get(space);
    if (gateway) return gateway.pass(exchange);
    if (push && space.serves === 'push') return respondByPush(push, space, exchange, failed);
    return respond(exchange, { space, resources: resources.get(space), failed });
  };
