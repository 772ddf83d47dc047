import type { Destinations } from '#shared/client/destinations/destinations.ts';
import { systemResolve } from '#shared/client/destinations/resolve.ts';
import { isPublic } from '#shared/client/destinations/public-address.ts';
import { isProduction } from '#shared/config/production.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { Config } from '#shared/config/schema.ts';
import type { DocumentNetwork } from './fetch-document.ts';

/** Whose documents are taken: nobody's, everybody's, or those of hosts, where `*.example.com` is all below it. */
export type DocumentPolicy = 'off' | 'allow' | { readonly hosts: readonly string[] };

/** Returns the setting `clients.documents`; default: `allow` in development, `off` in production. */
export const documentPolicy = (config: Config): DocumentPolicy =>
  config.clients.documents ?? (isProduction(config) ? 'off' : 'allow');

/** Whether the configuration takes a client that nobody registered, and whose description is at that address. */
export function isTaken(config: Config, url: string): boolean {
  const { hostname: host } = new URL(url);
  const policy = documentPolicy(config);
  if (typeof policy === 'string') return policy === 'allow';
  return policy.hosts.some((entry) =>
    entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry,
  );
}

/**
 * Returns why the configuration does not take the client at that address: undefined if it does. Whether the client is
 * registered makes no difference.
 */
export function whyNotTaken(config: Config, url: string): string | undefined {
  if (isTaken(config, url)) return undefined;
  return documentPolicy(config) === 'off'
    ? 'clients.documents is off'
    : `${new URL(url).hostname} is not in clients.documents.hosts`;
}

/**
 * Where documents may be fetched: public addresses at port 443 (draft section 6.5), and in development this machine at
 * any port.
 */
export function documentDestinations(config: Config): Destinations {
  const development = !isProduction(config);
  return {
    concerning: ({ port }) =>
      port === 443 || development
        ? (address) => (port === 443 && isPublic(address)) || (development && isLoopback(address))
        : undefined,
  };
}

/** The network of this machine, as far as documents may be fetched by it. */
export const documentNetwork = (config: Config): DocumentNetwork => ({
  destinations: documentDestinations(config),
  resolve: systemResolve,
});
