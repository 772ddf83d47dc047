import { isProduction, trustsLoopback } from './production.ts';
import { type Config, configSchema, type SpaceConfig } from './schema.ts';
import { proxySchema, spaceSchema } from './space-schema.ts';

/**
 * The configuration with the spaces of one that names none: documents, and the same hidden. In
 * development also trees for each person and application (WebDAV), TLS, a token issuer, and for authors
 * of clients a space for each scheme, one for all, and a proxy to them, unless what it sends would be believed.
 */
export function withTour(config: Config): Config {
  const { resource } = config;
  const spaces = [documents(resource, 'documents'), documents(resource, 'hidden', 'forbidden')];
  const scopeTexts = { ...TEXTS, ...config.scopeTexts };
  if (isProduction(config)) return { ...config, scopeTexts, spaces };
  const proxy = config.proxy ?? (trustsLoopback(config) ? undefined : PROXY);
  return {
    ...config,
    scopeTexts,
    tls: config.tls ?? TLS,
    privateTokens: config.privateTokens ?? PRIVATE_TOKENS,
    spaces: [...spaces, ...trials(resource), ...dav(resource)],
    ...(proxy && { proxy }),
  };
}

function documents(origin: string, name: string, hide?: SpaceConfig['hide']): SpaceConfig {
  return spaceSchema.parse({
    url: `${origin}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    hide,
  });
}

/** The second is for clients that answer Digest with MD5 alone, or give up. */
const DAV = { dav: ['Digest', 'Basic', 'API-Key'], 'dav-basic': ['Basic'] };

const dav = (origin: string): SpaceConfig[] =>
  Object.entries(DAV).map(([realm, schemes]) =>
    spaceSchema.parse({ url: `${origin}/${realm}/`, realm, schemes, tree: 'own' }),
  );

type Trial = readonly [path: string, members: Partial<SpaceConfig>];

const QOP: SpaceConfig['digest'] = {
  algorithms: ['SHA-256'],
  qop: ['auth', 'auth-int'],
  userhash: false,
};

/** One scheme each, since clients differ in what they make of several challenges. */
const TRIALS: readonly Trial[] = [
  ['basic', { schemes: ['Basic'] }],
  ['digest', { schemes: ['Digest'], digest: QOP }],
  ['scram-sha-1', { schemes: ['SCRAM-SHA-1'] }],
  ['scram-sha-256', { schemes: ['SCRAM-SHA-256'] }],
  ['negotiate', { schemes: ['Negotiate'] }],
  ['private-token', { schemes: ['PrivateToken'] }],
  ['api-key', { schemes: ['API-Key'] }],
  [
    'all',
    {
      scopes: { safe: ['schemes'], unsafe: ['schemes'] },
      grants: { everyone: ['schemes'], anonymous: ['schemes'], people: {} },
      schemes: [
        'Negotiate',
        'DPoP',
        'SCRAM-SHA-256',
        'Digest',
        'SCRAM-SHA-1',
        'Bearer',
        'Basic',
        'PrivateToken',
        'API-Key',
      ],
    },
  ],
];

const trials = (origin: string): SpaceConfig[] =>
  TRIALS.map(([path, members]) =>
    spaceSchema.parse({
      url: `${origin}/schemes/${path}/`,
      realm: path,
      serves: 'identity',
      ...members,
    }),
  );

const TLS = configSchema.shape.tls.parse({});

const PRIVATE_TOKENS = configSchema.shape.privateTokens.parse({});

const PROXY = proxySchema.parse({ destinations: ['self'] });

const TEXTS: Config['scopeTexts'] = {
  schemes: { en: 'Try every scheme of authentication', de: 'Alle Anmeldeverfahren ausprobieren' },
  'documents:read': { en: 'Read the documents', de: 'Die Dokumente lesen' },
  'documents:write': {
    en: 'Add, change and delete documents',
    de: 'Dokumente hinzufügen, ändern und löschen',
  },
  'hidden:read': { en: 'Read the hidden documents', de: 'Die verborgenen Dokumente lesen' },
  'hidden:write': {
    en: 'Add, change and delete hidden documents',
    de: 'Verborgene Dokumente hinzufügen, ändern und löschen',
  },
};
