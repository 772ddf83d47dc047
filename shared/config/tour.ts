import { SCHEMES } from '#shared/auth/schemes/list.ts';
import type { SchemeEntry } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { isProduction, trustsLoopback } from './production.ts';
import { type Config, configSchema, type SpaceConfig } from './schema.ts';
import { proxySchema, spaceSchema } from './space-schema.ts';

/**
 * Returns the configuration with default spaces. Production gets one space with documents. Development also gets a
 * hidden copy of it, WebDAV trees, TLS, a push service, a token issuer, a space for each scheme and one for all
 * schemes. It gets a proxy, unless servers trust the forwarding fields of loopback.
 */
export function withTour(config: Config): Config {
  const { resource } = config;
  const { resourceTls, authzTls } = config.listen;
  const scopeTexts = { ...TEXTS, ...config.scopeTexts };
  if (isProduction(config)) {
    return { ...config, scopeTexts, spaces: [documents(resource, 'documents')] };
  }
  const spaces = [
    documents(resource, 'documents', { documentClients: ['documents:read'] }),
    documents(resource, 'hidden', { hide: 'forbidden' }),
  ];
  const proxy = config.proxy ?? (trustsLoopback(config) ? undefined : PROXY);
  return {
    ...config,
    scopeTexts,
    tls: config.tls ?? configSchema.shape.tls.parse({ resource: originOf(resourceTls) }),
    privateTokens:
      config.privateTokens ??
      configSchema.shape.privateTokens.parse({ issuer: originOf(authzTls) }),
    gnap: config.gnap ?? GNAP,
    spaces: [...spaces, ...trials(resource), ...dav(resource), push(resource)],
    ...(proxy && { proxy }),
  };
}

/** The usual origins of an application under development. */
export const DEMO_ORIGINS = ['http://localhost:8080', 'http://127.0.0.1:8080'];

/**
 * In development, pages of these origins may call the default spaces that accept only tokens (CORS). A file with spaces
 * sets this itself.
 */
export function openToDemo(config: Config): Config {
  if (isProduction(config)) return config;
  const spaces = config.spaces.map((space) => {
    const open = space.hide === undefined && space.schemes.every((name) => TOKENS.has(name));
    return open ? { ...space, cors: { ...space.cors, origins: DEMO_ORIGINS } } : space;
  });
  return { ...config, spaces };
}

const TOKENS: ReadonlySet<string> = new Set(['Bearer', 'DPoP', 'GNAP']);

/** The parts of the tour beside its spaces, in words. */
const BESIDE = {
  tls: 'the origin over TLS',
  proxy: 'the forward proxy',
  gnap: 'GNAP',
  privateTokens: 'the token issuer',
} as const;

/**
 * Returns the parts of the tour that a configuration with its own spaces leaves out, in words: paths of spaces, and
 * the parts beside them. Empty in production, which has no tour.
 */
export function leftOutOfTour(config: Config): readonly string[] {
  if (isProduction(config)) return [];
  const tour = withTour(config);
  const own = new Set(config.spaces.map(({ url }) => url));
  const spaces = tour.spaces.filter(({ url }) => !own.has(url));
  const beside = (['tls', 'proxy', 'privateTokens', 'gnap'] as const).filter(
    (member) => tour[member] !== undefined && config[member] === undefined,
  );
  return [
    ...spaces.map(({ url }) => new URL(url).pathname),
    ...beside.map((member) => BESIDE[member]),
  ];
}

function documents(origin: string, name: string, more: object = {}): SpaceConfig {
  return spaceSchema.parse({
    url: `${origin}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    ...more,
  });
}

/** Returns the push service of the tour. It answers at the TLS origin. */
const push = (origin: string): SpaceConfig =>
  spaceSchema.parse({
    url: `${origin}/push/`,
    realm: 'push',
    schemes: ['Bearer', 'DPoP'],
    scopes: { unsafe: ['push'] },
    serves: 'push',
  });

/** WebDAV spaces and their schemes. `dav-basic` is for clients whose Digest supports only MD5. */
const DAV = { dav: ['Digest', 'Basic', 'API-Key'], 'dav-basic': ['Basic'] };

const dav = (origin: string): SpaceConfig[] =>
  Object.entries(DAV).map(([realm, schemes]) =>
    spaceSchema.parse({ url: `${origin}/${realm}/`, realm, schemes, tree: 'own' }),
  );

type Trial = NonNullable<SchemeEntry['trial']>;

/** The space with every scheme. Each authenticated client gets the scope that tokens for this space have. */
const ALL: Trial = {
  path: 'all',
  members: {
    scopes: { safe: ['schemes'], unsafe: ['schemes'] },
    grants: { everyone: ['schemes'], anonymous: ['schemes'], people: {} },
  },
};

/**
 * Returns a space for each scheme, since clients handle several challenges differently, and one space with all schemes.
 */
const trials = (origin: string): SpaceConfig[] => [
  ...SCHEMES.flatMap((entry: SchemeEntry) =>
    entry.trial ? trialSpace(origin, entry.trial, [entry.name]) : [],
  ),
  trialSpace(
    origin,
    ALL,
    SCHEMES.filter(({ trial }: SchemeEntry) => !trial?.quiet).map(({ name }) => name),
  ),
];

const trialSpace = (
  origin: string,
  { path, members }: Trial,
  schemes: readonly string[],
): SpaceConfig =>
  spaceSchema.parse({
    url: `${origin}/schemes/${path}/`,
    realm: path,
    serves: 'identity',
    schemes,
    ...members,
  });

/**
 * Returns the TLS origin of a listener. Undefined if the listener has any free port: the origin then stays the default.
 */
const originOf = ({ port }: Config['listen']['authzTls']): string | undefined =>
  port === 0 ? undefined : `https://localhost:${port}`;

const GNAP = configSchema.shape.gnap.parse({ clients: 'anybody' });

const PROXY = proxySchema.parse({ destinations: ['self'] });

const TEXTS: Config['scopeTexts'] = {
  schemes: { en: 'Try every scheme of authentication', de: 'Alle Anmeldeverfahren ausprobieren' },
  push: { en: 'Receive messages', de: 'Nachrichten empfangen' },
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
