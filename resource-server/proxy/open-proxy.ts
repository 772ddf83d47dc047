import { readFile } from 'node:fs/promises';
import { PROXY, type ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Standing } from '#shared/auth/standing/standing.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import type { Config, ProxyConfig } from '#shared/config/schema.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { listen, type Listening, type ServerLimits } from '#shared/server/listen/listen.ts';
import type { AnyHandler } from '#shared/server/message/message.ts';
import type { Beside } from '#shared/server/process.ts';
import type { Schemes } from '#shared/auth/schemes/list.ts';
import { hiddenProxy } from './hidden-proxy.ts';
import type { LineParts } from './line.ts';
import type { Network } from './network.ts';
import { createProxy, type ProxyParts } from './proxy.ts';

export interface ProxyServer extends LineParts {
  readonly address: Config['listen']['proxy'];
  readonly config: ProxyConfig;
  readonly schemes: Pick<Schemes, ProxyConfig['schemes'][number]>;
  readonly network: Network;
  readonly standing: Standing;
  readonly errors: ProxyParts['errors'];
  /** The handler that a hidden proxy shows to other clients: the resource server's. */
  readonly seeming: AnyHandler;
  readonly limits: Partial<ServerLimits>;
  /** The listener of the resource server beside which the proxy opens. */
  readonly main: Listening;
  /**
   * All listeners of that server without the proxy, for the destination `self`. Clients cannot reach the proxy through
   * itself.
   */
  readonly listeners: readonly Listening[];
}

/** The forward proxy as a further listener of the resource server. */
export function besideAsProxy(parts: Omit<ProxyServer, 'main' | 'listeners'>): Beside {
  return { name: 'proxy', open: (main, listeners) => openProxy({ ...parts, main, listeners }) };
}

/** Opens the forward proxy's listener. Rejects like `listen`, and if a file of the certificate cannot be read. */
export async function openProxy(parts: ProxyServer): Promise<Listening> {
  const { address, config, schemes, seeming, limits, main, listeners, log } = parts;
  const { host, port } = address;
  const { realm, tls } = config;
  const space: ProtectionSpace = {
    at: PROXY,
    realm,
    schemes: config.schemes.map((name) => schemes[name](config)),
    scopes: () => [],
  };
  const certificate = tls && {
    key: await readFile(tls.key),
    cert: await readFile(tls.certificate),
  };
  const told = {
    space,
    // A forward proxy is behind no trusted proxy, so forwarded addresses are ignored.
    recipient: { at: PROXY, proxies: trustedProxies([]), local: isLoopback(host) },
    origin: proxyUrl(config, address),
  };
  const self = () => listeners.filter((one) => one !== proxy);
  const plain = createProxy({ ...parts, ...told, self });
  const hides = config.hide !== undefined;
  const { handler, tunnel } = hides ? hiddenProxy({ ...told, proxy: plain, seeming }) : plain;
  const proxy: Listening = await listen({
    host,
    port,
    handler,
    tunnel,
    seemsNone: hides,
    http2: { handler, certificate },
    limits,
    admission: main.admission,
    log,
  });
  return proxy;
}
