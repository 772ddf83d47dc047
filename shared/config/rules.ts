import { existsSync } from 'node:fs';
import { SCHEMES } from '#shared/auth/schemes/list.ts';
import type { SchemeEntry } from '#shared/auth/schemes/scheme-entry.ts';
import { parseTarget } from '#shared/http/target.ts';
import { MOST_ROTATIONS } from '#shared/keys/token-key-schedule.ts';
import type { Mistake } from '#shared/base/mistake.ts';
import { WORKERS } from '#shared/base/workers.ts';
import { ownsTokenOrigin, productionMistakes, trustsLoopback } from './production.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** A rule over several members; it is left out while one of those that it reads is itself wrong. */
interface Rule {
  readonly reads: readonly (keyof Config)[];
  check(config: Config, env: NodeJS.ProcessEnv): readonly Mistake[];
}

/** Paths of the resource server itself, which no space may take. */
export const RESERVED = /^\/(\.well-known|health|verify)(\/|$)/;

const OVER_TLS: ReadonlySet<string> = new Set(
  SCHEMES.flatMap((entry: SchemeEntry) => (entry.overTls ? entry.name : [])),
);

/** Whether a destination of the proxy is this server, or may be: a loopback address. */
const isOwn = (destination: string) => /^(?:self$|127\.|0\.|\[?::)/.test(destination);

/** Where a space is, as requests name it: decoded, without a slash at the end. Undefined: nowhere. */
function place(url: string): string | undefined {
  const { origin, pathname } = new URL(url);
  const target = parseTarget(pathname);
  return target && [origin, ...target.segments].join('/');
}

/** A mistake for each space that is not the first with its key. */
function repeated(
  config: Config,
  key: (space: SpaceConfig) => string,
  say: (first: number) => Mistake['message'],
  member: string,
): Mistake[] {
  const keys = config.spaces.map(key);
  return keys.flatMap((value, index) => {
    const first = keys.indexOf(value);
    return first === index ? [] : [{ path: `spaces.${index}.${member}`, message: say(first) }];
  });
}

/** A mistake for each space that `wrong` says something about. */
function eachSpace(
  config: Config,
  member: string,
  wrong: (space: SpaceConfig) => string | undefined,
): Mistake[] {
  return config.spaces.flatMap((space, index) => {
    const message = wrong(space);
    return message === undefined ? [] : [{ path: `spaces.${index}.${member}`, message }];
  });
}

const missing = (file: string | undefined) =>
  file === undefined || existsSync(file)
    ? undefined
    : `is ${file}, which is not there: correct the path`;

const withinGrant = (grant: number) =>
  `must be at most people.grant (${grant}), with which all that a person has allowed ends`;

/** Every rule that a single member cannot express. */
export const RULES: readonly Rule[] = [
  {
    // The default of a member that is itself wrong is loopback: what is still production is certain.
    reads: [],
    check: productionMistakes,
  },
  {
    reads: ['brand'],
    check({ brand: { logo } }) {
      const message = missing(logo);
      return message === undefined ? [] : [{ path: 'brand.logo', message }];
    },
  },
  {
    reads: ['issuer', 'resource'],
    check: ({ issuer, resource }) =>
      issuer === resource
        ? [
            {
              path: 'resource',
              message:
                'must be another origin than issuer: documents must not share the origin of the sign-in pages',
            },
          ]
        : [],
  },
  {
    reads: ['listen'],
    check: ({ listen: { authz, resource } }) =>
      authz.port !== 0 && authz.port === resource.port && authz.host === resource.host
        ? [
            {
              path: 'listen.resource.port',
              message: `is taken by listen.authz: choose another port than ${authz.port}`,
            },
          ]
        : [],
  },
  {
    // Each worker of a server has its portion.
    reads: ['server'],
    check: ({ server: { connections } }) =>
      (['address', 'total'] as const)
        .filter((whose) => connections[whose] < WORKERS)
        .map((whose) => ({
          path: `server.connections.${whose}`,
          message: `must be at least ${WORKERS}, the number of workers`,
        })),
  },
  {
    reads: ['tls', 'privateTokens'],
    check: (config) =>
      (['tls', 'privateTokens'] as const)
        .filter(
          (path) => (config[path]?.certificate === undefined) !== (config[path]?.key === undefined),
        )
        .map((path) => ({ path, message: 'needs certificate and key, or neither in development' })),
  },
  {
    reads: ['resource', 'tls', 'privateTokens'],
    check: ({ resource, tls, privateTokens }) =>
      privateTokens && [resource, tls?.resource].includes(privateTokens.issuer)
        ? [
            {
              path: 'privateTokens.issuer',
              message:
                'must be an origin of its own, or that of `issuer`: the resource server is none',
            },
          ]
        : [],
  },
  {
    reads: ['issuer', 'privateTokens'],
    check: (config) =>
      config.privateTokens?.url !== undefined && ownsTokenOrigin(config)
        ? [
            {
              path: 'privateTokens.url',
              message: `needs a token issuer at the origin of \`issuer\`: set privateTokens.issuer to ${config.issuer}, or remove this`,
            },
          ]
        : [],
  },
  {
    reads: ['privateTokens'],
    check: ({ privateTokens }) =>
      privateTokens && privateTokens.rotation < privateTokens.maxAge
        ? [
            {
              path: 'privateTokens.rotation',
              message: `must be at least maxAge (${privateTokens.maxAge}), or a new key issues before everybody knows it`,
            },
          ]
        : [],
  },
  {
    reads: ['privateTokens'],
    check: ({ privateTokens }) =>
      privateTokens && privateTokens.overlap > MOST_ROTATIONS * privateTokens.rotation
        ? [
            {
              path: 'privateTokens.overlap',
              message: `must be at most ${MOST_ROTATIONS} rotations, or there are more keys in the directory than clients take`,
            },
          ]
        : [],
  },
  {
    reads: ['issuer', 'resource', 'tls'],
    check: ({ issuer, resource, tls }) =>
      tls && [issuer, resource].includes(tls.resource)
        ? [{ path: 'tls.resource', message: 'must be an origin of its own' }]
        : [],
  },
  {
    reads: ['jwks'],
    check: ({ jwks: { overlap, maxAge, cooldown } }) =>
      overlap < maxAge + cooldown
        ? [
            {
              path: 'jwks.overlap',
              message: `must be at least maxAge + cooldown (${maxAge + cooldown}), or a new key signs before every resource server knows it`,
            },
          ]
        : [],
  },
  {
    reads: ['tokens', 'people'],
    check: ({ tokens: { refresh }, people: { grant } }) =>
      refresh > grant ? [{ path: 'tokens.refresh', message: withinGrant(grant) }] : [],
  },
  {
    reads: ['people'],
    check: ({ people: { session, grant } }) =>
      session > grant ? [{ path: 'people.session', message: withinGrant(grant) }] : [],
  },
  {
    reads: ['proxy', 'trustedProxies'],
    check: (config) =>
      config.proxy?.destinations.some(isOwn) && trustsLoopback(config)
        ? [
            {
              path: 'trustedProxies',
              message:
                'has a loopback address, and proxy.destinations leads to one: whoever may use the proxy could say where they come from. Remove one of the two',
            },
          ]
        : [],
  },
  {
    reads: ['spaces'],
    check: ({ spaces }) =>
      spaces.length === 0
        ? [
            {
              path: 'spaces',
              message: 'is empty: name a space, or leave `spaces` out for the tour',
            },
          ]
        : [],
  },
  {
    reads: ['spaces'],
    check: (config) =>
      repeated(
        config,
        ({ url }) => place(url) ?? url,
        (first) =>
          `is the place and audience of spaces.${first} already: one space has one list of schemes and one alg`,
        'url',
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      repeated(
        config,
        ({ url, realm }) => `${new URL(url).origin} ${realm}`,
        (first) =>
          `is the realm of spaces.${first} already: origin and realm name a protection space (RFC 9110 section 11.5)`,
        'realm',
      ),
  },
  {
    reads: ['spaces', 'resource'],
    check: (config) =>
      eachSpace(config, 'url', ({ url, serves }) =>
        serves !== 'verify' && new URL(url).origin !== config.resource
          ? `must begin with ${config.resource}/, the public origin of the resource server, to serve anything there`
          : undefined,
      ),
  },
  {
    reads: ['spaces', 'resource'],
    check: (config) =>
      eachSpace(config, 'url', ({ url }) => {
        const { origin, pathname } = new URL(url);
        return origin === config.resource && RESERVED.test(pathname)
          ? 'is a path of the resource server itself: choose another than /.well-known, /health and /verify'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'url', ({ url }) =>
        place(url) === undefined
          ? 'has an empty segment, %2F, %5C, %00 or a broken escape in its path: no request can ever reach it'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'apiKey.beside', ({ schemes, apiKey }) =>
        apiKey.beside && schemes.includes('API-Key')
          ? 'takes keys beside the credentials of a person, so that API-Key cannot stand in schemes as well: remove one of the two'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'mutual.certificate', ({ mutual: { certificate } }) =>
        missing(certificate),
      ),
  },
  {
    reads: ['spaces', 'resource', 'tls'],
    check: (config) =>
      eachSpace(config, 'schemes', ({ url, schemes }) => {
        const secure =
          url.startsWith('https:') || (config.tls && new URL(url).origin === config.resource);
        const wanting = secure ? undefined : schemes.find((name) => OVER_TLS.has(name));
        return wanting && `has ${wanting}, which needs TLS: give url https, or add tls`;
      }),
  },
  {
    reads: ['spaces', 'privateTokens'],
    check: (config) =>
      eachSpace(config, 'privateToken.issuer', ({ schemes, privateToken: { issuer } }) =>
        schemes.includes('PrivateToken') && issuer === undefined && !config.privateTokens
          ? 'is missing, and this pair issues no tokens: name an issuer, or add privateTokens'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'privateToken.types', ({ privateToken: { issuer, types } }) =>
        issuer !== undefined && types.includes('voprf-p384')
          ? 'has voprf-p384, whose tokens only their issuer can verify: with another issuer than this pair name blind-rsa-2048 alone'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'tree', ({ schemes, serves, tree }) =>
        schemes.includes('PrivateToken') && serves === 'documents' && tree === 'own'
          ? 'is own, and PrivateToken does not say whose: share the tree, or remove the scheme'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'scopes', ({ scopes }) =>
        scopes['safe'] !== undefined && scopes['unsafe'] === undefined
          ? 'names safe but not unsafe, so that writing would need less than reading: add unsafe (an empty list if any token will do)'
          : undefined,
      ),
  },
  {
    reads: ['spaces', 'resource', 'tls'],
    check: (config) => {
      // The resource server's two origins have the same spaces.
      const originOf = ({ url }: SpaceConfig) => {
        const { origin } = new URL(url);
        return origin === config.tls?.resource ? config.resource : origin;
      };
      const hidden = config.spaces.filter(({ hide }) => hide === 'everything');
      return eachSpace(config, 'concealed.frontend', (space) => {
        const first = hidden.find((one) => originOf(one) === originOf(space));
        const { frontend } = space.concealed;
        return space.hide === 'everything' && first?.concealed.frontend !== frontend
          ? `differs from that of ${first?.url}: what a frontend tells has to cost the same at every address of the origin, or its time tells which are hidden`
          : undefined;
      });
    },
  },
  {
    reads: ['spaces', 'tls'],
    check: (config) =>
      eachSpace(config, 'hide', ({ url, hide, schemes, concealed, apiKey }) => {
        if (hide !== 'everything') return undefined;
        if (schemes.join() !== 'Concealed' || apiKey.beside) {
          return 'is everything, which Concealed alone can keep: any other scheme tells that there is something';
        }
        const overTls = url.startsWith('https:') || config.tls !== undefined;
        return overTls || concealed.frontend
          ? undefined
          : 'is everything, and nobody would ever get in: Concealed needs TLS, by `tls` or a frontend (concealed.frontend)';
      }),
  },
  {
    reads: ['proxy'],
    check: ({ proxy }) =>
      proxy?.hide === 'everything' && (proxy.schemes.join() !== 'Concealed' || !proxy.tls)
        ? [
            {
              path: 'proxy.hide',
              message: 'is everything, which needs proxy.tls, and Concealed as the only scheme',
            },
          ]
        : [],
  },
  {
    reads: ['proxy'],
    check: ({ proxy }) =>
      proxy?.concealed.frontend
        ? [
            {
              path: 'proxy.concealed.frontend',
              message: 'is for spaces: nobody stands before a forward proxy whose word would count',
            },
          ]
        : [],
  },
];
