import type { Config } from './schema.ts';

/** Destinations that are, or may be, this server: `self` and loopback addresses. */
const OWN = /^(?:self$|127\.|0\.|\[?::)/;

/**
 * Whether the forward proxy may connect to this server. Requests through it come from loopback, whichever client sent
 * them.
 */
export function leadsHome({ proxy }: Pick<Config, 'proxy'>): boolean {
  return proxy !== undefined && proxy.destinations.some((destination) => OWN.test(destination));
}
