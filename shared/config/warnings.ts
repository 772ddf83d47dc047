import { isIP } from 'node:net';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { type PairMembers, pairWarnings } from './pair-warnings.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { Config, SpaceConfig } from './schema.ts';
import { TELLS_OF_SIGN_IN } from './space-rules.ts';
import { upstreamUrls } from './upstream-schema.ts';
import { warn, type Warning } from './warning-texts.ts';
import type { Words } from '#shared/refusals/words.ts';

const DAV = ['PROPFIND', 'COPY', 'MOVE'];

/** Returns the settings that can be used but are probably a mistake at the time `now`. */
export function configWarnings(config: PairMembers, now: number): readonly Warning[] {
  return [
    ...pairWarnings(config, now),
    ...Object.entries(WARNINGS).flatMap(([member, warning]) =>
      config.spaces.flatMap((space, index) => {
        const words = warning(space, config);
        return words === undefined ? [] : [{ path: `spaces.${index}.${member}`, ...words }];
      }),
    ),
  ];
}

/** Schemes for which browsers show a dialog of their own. */
const DIALOGS: ReadonlySet<string> = new Set(['Basic', 'Digest', 'Negotiate']);

/** The warnings by the member of a space that they are about. */
const WARNINGS: Readonly<
  Record<
    string,
    (space: SpaceConfig, config: Pick<Config, 'spaces' | 'trustedProxies'>) => Words | undefined
  >
> = {
  schemes: ({ schemes, upstream }) =>
    upstream && schemes.length === 0 ? warn('no-schemes') : undefined,
  authentication: ({ authentication, schemes }) => {
    const silent = schemes.filter((name) => !TELLS_OF_SIGN_IN.has(name));
    return authentication && silent.length > 0
      ? warn('never-met', { schemes: silent.join(', ') })
      : undefined;
  },
  secondFactor: ({ secondFactor }) => secondFactor && warn('second-factor-not-asked'),
  signIn: ({ signIn, schemes, scopes, grants }) => {
    if (signIn === undefined) return undefined;
    const asking = schemes.find((name) => DIALOGS.has(name));
    if (asking !== undefined) {
      return warn('dialog', { scheme: asking });
    }
    const granted = [grants.everyone, ...Object.values(grants.people)].flat();
    return Object.values(scopes).flat().length > 0 && granted.length === 0
      ? warn('no-grants')
      : undefined;
  },
  'upstream.url': ({ upstream }) => {
    const open = upstreamUrls(upstream).find(isClearOutside);
    return open === undefined ? undefined : warn('clear-text', { url: open });
  },
  cache({ cache, url, upstream }, { spaces }) {
    if (cache === undefined) return undefined;
    const own = upstreamUrls(upstream);
    const other = spaces.find(
      (one) =>
        one.url !== url && upstreamUrls(one.upstream).some((place) => own.some(meets(place))),
    );
    return other && warn('cache-elsewhere', { url: other.url });
  },
  'cache.purge.networks': ({ cache }, { trustedProxies: trusted }) => {
    const networks = cache?.purge?.networks ?? [];
    if (networks.some((network) => network.endsWith('/0'))) {
      return warn('purge-by-all');
    }
    const shared = networks.find((one) => trusted.some((other) => overlap(one, other)));
    return shared === undefined ? undefined : warn('purge-by-proxy', { network: shared });
  },
  upstream: ({ upstream, url, methods }) => {
    const [first] = upstreamUrls(upstream);
    if (first === undefined || sameTree(first, url)) return undefined;
    return DAV.some((method) => methods === undefined || methods.includes(method))
      ? warn('other-path')
      : undefined;
  },
};

/** Hosts in private networks (RFC 1918, RFC 4193) or link-local networks. */
const OWN = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cde])/;

function isClearOutside(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const inside = isLoopback(hostname) || OWN.test(hostname);
  const named = isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.includes('.');
  return protocol === 'http:' && !inside && !named;
}

/** Whether two networks overlap: then one contains the other. */
const overlap = (one: string, other: string) =>
  trustedProxies([one]).has(first(other)) || trustedProxies([other]).has(first(one));
const first = (network: string) => network.replace(/\/.*/, '');

const sameTree = (one: string, other: string) => pathOf(one) === pathOf(other);
/** Whether two paths are equal, or one is below the other. */
const meets = (one: string) => (other: string) => one.startsWith(other) || other.startsWith(one);
const pathOf = (url: string) => new URL(url).pathname.replace(/\/$/, '');
