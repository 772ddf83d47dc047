import type { Config } from './schema.ts';

/** This server, or maybe: a loopback address. */
const OWN = /^(?:self$|127\.|0\.|\[?::)/;

/** Whether the forward proxy leads to this server: what comes from there comes from loopback, no matter who sent it. */
export function leadsHome({ proxy }: Pick<Config, 'proxy'>): boolean {
  return proxy !== undefined && proxy.destinations.some((destination) => OWN.test(destination));
}
