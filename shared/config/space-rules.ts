import { PASSWORD_ALONE, type SchemeName, SCHEMES } from '#shared/auth/schemes/list.ts';
import type { SchemeEntry } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { eachSpace, type Rule } from './rule.ts';
import type { Config, SpaceConfig } from './schema.ts';
import { PLACE_RULES } from './space-places.ts';
import { SERVED } from '#shared/http/methods.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { takesTokens } from './token-spaces.ts';
import { toolScopes } from './tool-scope.ts';
import { upstreamUrls } from './upstream-schema.ts';

/**
 * Methods that are never passed to an application: CONNECT opens a tunnel, PRI is the HTTP/2 preface, and this server
 * answers TRACE.
 */
const NEVER_PASSED: ReadonlySet<string> = new Set(['CONNECT', 'PRI', 'TRACE']);

/** Schemes whose tokens belong to a grant of a person. */
const PUSH_SCHEMES: ReadonlySet<string> = new Set(['Bearer', 'DPoP', 'GNAP']);

/** Schemes whose credentials tell how and when somebody signed in (RFC 9470 section 6). */
export const TELLS_OF_SIGN_IN: ReadonlySet<string> = new Set(['Bearer', 'DPoP', 'GNAP']);

/** True if clients can reach the space over TLS. */
const isSecure = ({ tls, resource }: Pick<Config, 'tls' | 'resource'>, url: string): boolean =>
  url.startsWith('https:') || (tls !== undefined && new URL(url).origin === resource);

const OVER_TLS: ReadonlySet<string> = new Set(
  SCHEMES.flatMap((entry: SchemeEntry) => (entry.overTls ? entry.name : [])),
);

/** Every rule about spaces. */
export const SPACE_RULES: readonly Rule[] = [
  ...PLACE_RULES,
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
    reads: ['spaces', 'resource', 'tls'],
    check: (config) =>
      eachSpace(config, 'schemes', ({ url, schemes }) => {
        const wanting = isSecure(config, url)
          ? undefined
          : schemes.find((name) => OVER_TLS.has(name));
        return wanting && `has ${wanting}, which needs TLS: give url https, or add tls`;
      }),
  },
  {
    reads: ['spaces', 'resource', 'tls'],
    check: (config) =>
      eachSpace(config, 'serves', ({ url, serves }) =>
        serves === 'push' && !isSecure(config, url)
          ? 'is push, which needs TLS (RFC 8030 section 8): give url https, or add tls'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'schemes', ({ serves, schemes, scopes }) => {
        if (serves !== 'push') return undefined;
        const other = schemes.find((name) => !PUSH_SCHEMES.has(name));
        if (other) {
          return `has ${other}, which names no grant that a subscription could end with: a push service takes Bearer, DPoP and GNAP`;
        }
        return (scopes['POST'] ?? scopes['unsafe'] ?? []).length === 0
          ? 'let anybody with a token subscribe: name a scope in scopes.unsafe, such as push'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'gnap.enforces', ({ gnap, serves }) =>
        gnap.enforces.length > 0 && serves !== 'verify'
          ? 'needs `serves`: `verify`, so that the application gets the token: this server enforces scopes alone'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'gnap.access', ({ url, gnap, schemes, scopes }) => {
        const types = Object.entries(gnap.access);
        if (types.length > 0 && !schemes.includes('GNAP')) {
          return 'is about the scheme GNAP, which the space does not have: add it to schemes';
        }
        if (url in gnap.access)
          return 'redefines the URL of the space, whose actions are its scopes';
        const known = new Set(Object.values(scopes).flat());
        const unknown = types
          .flatMap(([, actions]) => Object.values(actions).flat())
          .find((scope) => !known.has(scope));
        return unknown && `needs the scope ${unknown}, which no method of the space needs`;
      }),
  },
  {
    reads: ['spaces', 'gnap'],
    check: (config) =>
      eachSpace(config, 'schemes', ({ schemes }) =>
        schemes.includes('GNAP') && !config.gnap
          ? 'has GNAP, and this pair gives no access by it: add gnap'
          : undefined,
      ),
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
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'scopes', ({ serves, scopes }) =>
        toolScopes(scopes).size > 0 && serves !== 'upstream' && serves !== 'verify'
          ? `has tools, and a space that serves ${serves} has none: remove them, or let it serve upstream or verify`
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'authentication', ({ schemes, authentication }) => {
        if (authentication === undefined) return undefined;
        if (!schemes.some((name) => TELLS_OF_SIGN_IN.has(name))) {
          return 'lets nobody in: of all credentials only tokens tell how somebody signed in. Add Bearer, DPoP or GNAP to schemes, or remove it';
        }
        const named = new Set(authentication.flatMap(({ methods = ['unsafe'] }) => methods));
        return named.has('safe') && !named.has('unsafe')
          ? 'names safe but not unsafe, so that writing would need less than reading: add unsafe'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'secondFactor', ({ schemes, secondFactor }) =>
        secondFactor && !PASSWORD_ALONE.some(({ name }) => schemes.includes(name as SchemeName))
          ? 'changes nothing here: no scheme of the space lets people in by a password. Remove it'
          : undefined,
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'schemes', ({ schemes, serves, scopes, apiKey, hide }) => {
        if (schemes.length > 0) return undefined;
        if (serves !== 'upstream') return 'is empty: name the schemes by which clients get in';
        return Object.keys(scopes).length > 0 || apiKey.beside || hide
          ? 'is empty, so that nobody is asked for scopes, keys or what to hide: name schemes, or remove those'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'upstream', ({ serves, upstream }) =>
        (serves === 'upstream') === (upstream !== undefined)
          ? undefined
          : serves === 'upstream'
            ? 'is missing: say where the application is'
            : `is of no use to a space that serves ${serves}: remove it, or let the space serve upstream`,
      ),
  },
  {
    reads: ['spaces', 'listen'],
    check: (config) =>
      eachSpace(config, 'upstream.urls', ({ upstream }) => {
        const urls = upstreamUrls(upstream);
        const paths = new Set(urls.map((url) => new URL(url).pathname));
        return paths.size > 1 ? 'have different paths: one space stands for one path' : undefined;
      }),
  },
  {
    reads: ['spaces', 'resource', 'tls'],
    check: (config) =>
      eachSpace(config, 'upstream.concealedExport', ({ url, schemes, upstream }) => {
        if (!upstream?.concealedExport) return undefined;
        if (schemes.length > 0) {
          return 'is of use to an application that reads Authorization itself: name no schemes, or remove it';
        }
        return url.startsWith('https:') || config.tls
          ? undefined
          : 'tells of TLS, which this server does not end: add tls';
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'methods', ({ serves, methods = [] }) => {
        const odd = methods.find((method) =>
          serves === 'upstream' ? NEVER_PASSED.has(method) : !SERVED.has(method),
        );
        return (
          odd &&
          (serves === 'upstream'
            ? `has ${odd}, which no gateway passes on`
            : `has ${odd}, which this server does nowhere: only an application (serves: upstream) can`)
        );
      }),
  },
  {
    reads: ['spaces', 'trustedProxies'],
    check: (config) =>
      eachSpace(config, 'concealed.frontend', ({ concealed: { frontend } }) =>
        frontend && config.trustedProxies.length === 0
          ? 'believes a proxy, and none is trusted: name it in trustedProxies'
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
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'signIn', ({ url, serves, schemes, signIn }) => {
        if (signIn === undefined) return undefined;
        const { protocol, hostname } = new URL(url);
        if (serves !== 'verify' && serves !== 'upstream') {
          return `is of no use to a space that serves ${serves}: people sign in before an application (verify, upstream)`;
        }
        if (protocol === 'http:' && !isLoopback(hostname)) {
          return 'needs https: whoever reads along would have the session';
        }
        if (schemes.includes('PrivateToken')) {
          return 'stands beside PrivateToken, which hides who comes from a server that a session tells: give each a space of its own';
        }
        return takesTokens({ schemes })
          ? undefined
          : 'needs Bearer or DPoP among the schemes: a session is that of a token, and what is no browser has to be told how to get in (RFC 9110 section 15.5.2)';
      }),
  },
];
