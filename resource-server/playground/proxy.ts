import { isIP } from 'node:net';
import { PROXY } from '#shared/auth/scheme.ts';
import type { Schemes } from '#shared/auth/schemes/list.ts';
import { silentLog } from '#shared/base/log.ts';
import { proxySchema } from '#shared/config/space-schema.ts';
import type { AnyHandler } from '#shared/server/message/message.ts';
import type { TunnelHandler } from '#shared/server/tunnels/tunnel.ts';
import { createProxy, type ProxyParts } from '../proxy/proxy.ts';
import { systemNetwork } from '../proxy/network.ts';
import { AT_ONCE } from './at-once.ts';
import { authorityOf } from './http1-message.ts';
import type { Loopback } from './listener.ts';

const HOST = '127.0.0.1';
/** The origin of the proxy, as its clients name it. Only the playground reaches it. */
const ORIGIN = 'http://proxy.example';

export interface OwnProxyParts extends Pick<
  ProxyParts,
  'standing' | 'errors' | 'clock' | 'random'
> {
  readonly schemes: Pick<Schemes, 'Basic'>;
  /** The one origin that the proxy reaches, through its loopback listener. */
  readonly origin: string;
  readonly loopback: Loopback;
}

/**
 * A forward proxy whose only destination is the origin of the playground. It makes no DNS queries. For any request it
 * dials the loopback listener, in the name of the visitor.
 */
export function playgroundProxy({ schemes, origin, loopback, ...parts }: OwnProxyParts): {
  readonly handler: AnyHandler;
  readonly tunnel: TunnelHandler;
} {
  const realm = 'playground proxy';
  const schemesOfProxy = ['Basic'] as const;
  const config = proxySchema.parse({
    realm,
    schemes: schemesOfProxy,
    destinations: ['self'],
    tunnels: 2 * AT_ONCE,
    idle: 10,
    total: 10,
  });
  const space = {
    at: PROXY,
    realm,
    schemes: schemesOfProxy.map((name) => schemes[name](config)),
    scopes: () => [],
  };
  const { host, port } = authorityOf(origin);
  const address = isIP(host) === 0 ? HOST : host;
  const recipient = { at: PROXY, proxies: { has: () => false }, local: true };
  /** Connections of a proxy have the address of the visitor, so each visitor needs a separate proxy. */
  const proxyFor = (visitor: string) =>
    createProxy({
      ...parts,
      config,
      space,
      recipient,
      origin: ORIGIN,
      log: silentLog,
      self: () => [{ address, port }],
      network: {
        resolve: async (name) => (name === host ? [address] : []),
        dial: (_address, _port, signal, inflow) =>
          loopback.dial(visitor, (at) => systemNetwork.dial(HOST, at, signal, inflow)),
      },
    });
  const visitorOf = (remoteAddress: string | undefined) => remoteAddress ?? '';
  return {
    handler: (request, response) =>
      proxyFor(visitorOf(request.socket.remoteAddress)).handler(request, response),
    tunnel: (asked) => proxyFor(visitorOf(asked.request.socket.remoteAddress)).tunnel(asked),
  };
}
