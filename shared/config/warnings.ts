import { isIP } from 'node:net';
import type { Mistake } from '#shared/base/mistake.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { type PairMembers, pairWarnings } from './pair-warnings.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { eachSpace } from './rule.ts';
import type { Config, SpaceConfig } from './schema.ts';
import { TELLS_OF_SIGN_IN } from './space-rules.ts';
import { upstreamUrls } from './upstream-schema.ts';

const DAV = ['PROPFIND', 'COPY', 'MOVE'];

/** Returns the settings that can be used but are probably a mistake at the time `now`. */
export function configWarnings(config: PairMembers, now: number): readonly Mistake[] {
  return [
    ...pairWarnings(config, now),
    ...Object.entries(WARNINGS).flatMap(([member, warning]) =>
      eachSpace(config, member, (space) => warning(space, config)),
    ),
  ];
}

/** Schemes for which browsers ask by themselves. */
const DIALOGS: ReadonlySet<string> = new Set(['Basic', 'Digest', 'Negotiate']);

/** The warnings by the member of a space that they are about. */
const WARNINGS: Readonly<
  Record<
    string,
    (space: SpaceConfig, config: Pick<Config, 'spaces' | 'trustedProxies'>) => string | undefined
  >
> = {
  schemes: ({ schemes, upstream }) =>
    upstream && schemes.length === 0
      ? 'names none: everybody reaches the application, which has to ask for credentials itself'
      : undefined,
  authentication: ({ authentication, schemes }) => {
    const silent = schemes.filter((name) => !TELLS_OF_SIGN_IN.has(name));
    return authentication && silent.length > 0
      ? `is never met by ${silent.join(', ')}, whose credentials do not tell how somebody signed in: such requests are refused`
      : undefined;
  },
  secondFactor: ({ secondFactor }) =>
    secondFactor &&
    'is not asked for: whoever knows a password gets in here, also that of somebody who has a second factor or must have one',
  signIn: ({ signIn, schemes, scopes, grants }) => {
    if (signIn === undefined) return undefined;
    const asking = schemes.find((name) => DIALOGS.has(name));
    if (asking !== undefined) {
      return `stands beside ${asking}: browsers will show its dialog whenever a script meets a session that has ended. Give what needs ${asking} a space of its own`;
    }
    const granted = [grants.everyone, ...Object.values(grants.people)].flat();
    return Object.values(scopes).flat().length > 0 && granted.length === 0
      ? 'gives a person no scopes, and some are needed here: name them in grants'
      : undefined;
  },
  'upstream.url': ({ upstream }) => {
    const open = upstreamUrls(upstream).find(isClearOutside);
    return open && `is ${open}: what goes there in clear text can be read and changed on its way`;
  },
  cache({ cache, url, upstream }, { spaces }) {
    if (cache === undefined) return undefined;
    const own = upstreamUrls(upstream);
    const other = spaces.find(
      (one) =>
        one.url !== url && upstreamUrls(one.upstream).some((place) => own.some(meets(place))),
    );
    return (
      other &&
      `hears of no change through ${other.url}, which has the same application: what changes there has to be told here by PURGE or BAN`
    );
  },
  'cache.purge.networks': ({ cache }, { trustedProxies: trusted }) => {
    const networks = cache?.purge?.networks ?? [];
    if (networks.some((network) => network.endsWith('/0'))) {
      return 'has every address: everybody may empty the cache';
    }
    const shared = networks.find((one) => trusted.some((other) => overlap(one, other)));
    return (
      shared &&
      `has ${shared}, where trustedProxies has somebody: who comes from a proxy itself needs credentials all the same, since the proxy may have forgotten to say for whom`
    );
  },
  upstream: ({ upstream, url, methods }) => {
    const [first] = upstreamUrls(upstream);
    if (first === undefined || sameTree(first, url)) return undefined;
    return DAV.some((method) => methods === undefined || methods.includes(method))
      ? 'has another path than the space, and contents are not rewritten: clients of WebDAV will find the URLs of the application in its answers. Give both the same path, or leave its methods out'
      : undefined;
  },
};

/** Networks of one's own (RFC 1918, RFC 4193), and names without a dot, are not outside. */
const OWN = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cde])/;

function isClearOutside(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const inside = isLoopback(hostname) || OWN.test(hostname);
  const named = isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.includes('.');
  return protocol === 'http:' && !inside && !named;
}

/** Networks are within one another or apart. */
const overlap = (one: string, other: string) =>
  trustedProxies([one]).has(first(other)) || trustedProxies([other]).has(first(one));
const first = (network: string) => network.replace(/\/.*/, '');

const sameTree = (one: string, other: string) => pathOf(one) === pathOf(other);
/** Whether what is at one of two places is, or is in, what is at the other. */
const meets = (one: string) => (other: string) => one.startsWith(other) || other.startsWith(one);
const pathOf = (url: string) => new URL(url).pathname.replace(/\/$/, '');
