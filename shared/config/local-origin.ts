import { isIPv6 } from 'node:net';
import type { Config } from './schema.ts';

const UNSPECIFIED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Origin at which this machine reaches a listener in clear text; undefined where the system chooses the port. */
export function localOrigin({ host, port }: Config['listen']['authz']): string | undefined {
  if (port === 0) return undefined;
  const address = UNSPECIFIED[host] ?? host;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/** Whether a listener takes what comes to any address of the machine: no client knows it by that. */
export const isUnspecified = (host: string) => Object.hasOwn(UNSPECIFIED, host);
