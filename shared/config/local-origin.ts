import { isIPv6 } from 'node:net';
import type { Config } from './schema.ts';

const UNSPECIFIED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

type Listener = 'authz' | 'resource' | 'authzTls' | 'resourceTls';

/** Returns the host and port of a listener, whose default host is `listen.host`. */
export function listenerOf({ listen }: Pick<Config, 'listen'>, name: Listener) {
  const { host = listen.host, port } = listen[name];
  return { host, port };
}

/** Returns the origin at which this machine reaches a clear-text listener. Undefined if the system chooses the port. */
export function localOrigin({ host, port }: ReturnType<typeof listenerOf>): string | undefined {
  if (port === 0) return undefined;
  const address = UNSPECIFIED[host] ?? host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/**
 * Whether the host is an unspecified address (0.0.0.0 or ::). A listener there accepts connections at all addresses of
 * the machine, and clients do not use this address.
 */
export const isUnspecified = (host: string) => Object.hasOwn(UNSPECIFIED, host);
