import { CACHE_METHODS } from '#shared/http/methods.ts';
import { leadsHome } from './own-destination.ts';
import { hasLoopback } from './production.ts';
import { eachSpace, type Rule } from './rule.ts';

/** Every rule about the caches of spaces. */
export const CACHE_RULES: readonly Rule[] = [
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'cache', ({ cache, serves, upstream }) => {
        if (cache === undefined) return undefined;
        if (serves !== 'upstream') {
          return `is for the answers of an application, and this space serves ${serves}: remove it, or let the space serve upstream`;
        }
        return upstream?.concealedExport
          ? 'cannot keep what depends on the connection, as answers do where the application speaks Concealed itself: remove it, or upstream.concealedExport'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'cache.kind', ({ cache, schemes }) => {
        if (cache?.kind !== 'private') return undefined;
        if (schemes.length === 0)
          return 'is private, and nobody is asked who they are: name schemes';
        return schemes.includes('PrivateToken')
          ? 'is private, and PrivateToken does not say whose: let it be shared, or remove the scheme'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'methods', ({ cache, methods = [] }) => {
        const taken = cache?.purge && CACHE_METHODS.find((method) => methods.includes(method));
        return (
          taken &&
          `has ${taken}, which the cache answers, so that the application would never see it: remove it, or cache.purge`
        );
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'cache.purge.networks', ({ cache, schemes }) =>
        cache?.purge?.networks.length === 0 && schemes.length === 0
          ? 'is empty, and nobody can show credentials where schemes is empty: name networks, or remove purge'
          : undefined,
      ),
  },
  {
    reads: ['spaces', 'proxy'],
    check: (config) =>
      eachSpace(config, 'cache.purge.networks', ({ cache }) =>
        leadsHome(config) && cache?.purge && hasLoopback(cache.purge.networks)
          ? 'has a loopback address, and proxy.destinations leads to one: whoever may use the proxy could purge. Remove one of the two'
          : undefined,
      ),
  },
];
