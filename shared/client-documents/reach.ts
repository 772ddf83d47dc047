import type { Destinations } from '#shared/client/destinations/destinations.ts';
import { systemResolve } from '#shared/client/destinations/resolve.ts';
import { isPublic } from '#shared/client/destinations/public-address.ts';
import { listenerOf } from '#shared/config/local-origin.ts';
import { isProduction } from '#shared/config/production.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { Config } from '#shared/config/schema.ts';
import type { DocumentNetwork } from './fetch-document.ts';

/**
 * The documents that are accepted: none, all, or those at some hosts, where `*.example.com` means all names below it.
 */
export type DocumentPolicy = 'off' | 'allow' | { readonly hosts: readonly string[] };

/** Returns the setting `clients.documents`; default: `allow` in development, `off` in production. */
export const documentPolicy = (config: Config): DocumentPolicy =>
  config.clients.documents ?? (isProduction(config) ? 'off' : 'allow');

/** Returns whether the configuration accepts an unregistered client whose description is at that address. */
export function isTaken(config: Config, url: string): boolean {
  const { hostname: host } = new URL(url);
  const policy = documentPolicy(config);
  if (typeof policy === 'string') return policy === 'allow';
  return policy.hosts.some((entry) =>
    entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry,
  );
}

/**
 * Returns the reason for which the configuration does not accept the client at that address; undefined if it does. It
 * does not matter whether the client is registered.
 */
export function whyNotTaken(config: Config, url: string): string | undefined {
  if (isTaken(config, url)) return undefined;
  return documentPolicy(config) === 'off'
    ? 'clients.documents is off'
    : `${new URL(url).hostname} is not in clients.documents.hosts`;
}

/**
 * Returns the destinations of fetches: public addresses at port 443 (draft section 6.5), and in development also this
 * machine at any port, unless clients of other machines may reach the server, as in a container.
 */
export function documentDestinations(config: Config): Destinations {
  const here = !isProduction(config) && isLoopback(listenerOf(config, 'authz').host);
  return {
    concerning: ({ port }) =>
      port === 443 || here
        ? (address) => (port === 443 && isPublic(address)) || (here && isLoopback(address))
        : undefined,
  };
}

/** Returns the network of this machine, restricted to destinations of documents. */
export const documentNetwork = (config: Config): DocumentNetwork => ({
  destinations: documentDestinations(config),
  resolve: systemResolve,
});
