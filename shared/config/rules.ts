import { join, resolve } from 'node:path';
import { MOST_ROTATIONS } from '#shared/keys/token-key-schedule.ts';
import { WORKERS } from '#shared/base/workers.ts';
import { LEAST_CONNECTIONS } from '#shared/stores/settings.ts';
import { CACHE_RULES } from './cache-rules.ts';
import { IDENTITY_RULES } from './identity-rules.ts';
import { isUnspecified } from './local-origin.ts';
import { leadsHome } from './own-destination.ts';
import { PLAYGROUND_RULE } from './playground.ts';
import { ownsTokenOrigin, productionMistakes, trustsLoopback } from './production.ts';
import { wrongRelyingParty } from './relying-party.ts';
import type { Rule } from './rule.ts';
import { SPACE_RULES } from './space-rules.ts';

const withinGrant = (grant: number) =>
  `must be at most people.grant (${grant}), with which all that a person has allowed ends`;

/** Every rule that a single member cannot express. */
export const RULES: readonly Rule[] = [
  {
    // A member with a mistake has its default here, which is loopback. If the rest still makes it production, that is
    // certain.
    reads: [],
    check: productionMistakes,
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
    reads: ['revocations'],
    check: ({ revocations: { lease, hold } }) =>
      hold > lease / 4
        ? [
            {
              path: 'revocations.hold',
              message: `must be at most a quarter of revocations.lease (${lease}), or one lost answer ends a lease`,
            },
          ]
        : [],
  },
  {
    // Each worker of a server gets a portion of this limit.
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
    reads: ['store'],
    check: ({ store }) =>
      store.kind === 'postgres' && store.connections < LEAST_CONNECTIONS * WORKERS
        ? [
            {
              path: 'store.connections',
              message: `must be at least ${LEAST_CONNECTIONS * WORKERS}: ${LEAST_CONNECTIONS} for each of ${WORKERS} workers`,
            },
          ]
        : [],
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
    reads: ['mail', 'people'],
    check: ({ mail, people }) =>
      people.registration === 'open' && mail === undefined
        ? [
            {
              path: 'people.registration',
              message: 'is open, which needs mail: nobody makes an account without an address',
            },
          ]
        : [],
  },
  {
    reads: ['sources'],
    check: ({ sources }) =>
      sources.flatMap(({ name }, index) =>
        sources.findIndex((other) => other.name === name) < index
          ? [{ path: `sources.${index}.name`, message: `is ${name} again: choose another name` }]
          : [],
      ),
  },
  {
    reads: ['backup', 'store', 'data'],
    check: ({ backup, store, data }) => {
      if (backup === undefined) return [];
      const { folder } = backup;
      if (folder === undefined) {
        // PostgreSQL has backup tools of its own, too.
        return store.kind === 'postgres' ? [] : [{ path: 'backup.folder', message: 'is missing' }];
      }
      const places = [data, join(data, 'content')].map((place) => resolve(place));
      return places.includes(resolve(folder))
        ? [{ path: 'backup.folder', message: 'is where the store itself is: name another folder' }]
        : [];
    },
  },
  {
    reads: ['mail'],
    check: ({ mail }) =>
      (mail?.user === undefined) === (mail?.passwordFile === undefined)
        ? []
        : [{ path: 'mail', message: 'needs user and passwordFile, or neither' }],
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
    reads: ['issuer', 'people'],
    check: (config) => {
      const message = wrongRelyingParty(config);
      return message === undefined ? [] : [{ path: 'people.passkeys.rpId', message }];
    },
  },
  {
    reads: ['proxy', 'trustedProxies'],
    check: (config) =>
      leadsHome(config) && trustsLoopback(config)
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
  {
    reads: ['proxy', 'listen'],
    check: ({ proxy, listen }) =>
      proxy?.schemes.includes('Mutual') && isUnspecified(listen.proxy.host)
        ? [
            {
              path: 'listen.proxy.host',
              message: `is ${listen.proxy.host}, and Mutual at the proxy is for the host that clients know it by: name that host`,
            },
          ]
        : [],
  },
  PLAYGROUND_RULE,
  ...SPACE_RULES,
  ...CACHE_RULES,
  ...IDENTITY_RULES,
];
