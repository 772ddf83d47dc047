import { isObject } from '#shared/jose/compact-jws.ts';
import type { Mistake } from '#shared/base/mistake.ts';
import { nearest } from '#shared/base/nearest.ts';
import { POSTGRES_URL_FORM, readPostgresUrl } from '#shared/stores/postgres-url.ts';
import { isRedisUrl } from '#shared/stores/redis-url.ts';
import type { RedisSettings } from '#shared/stores/settings.ts';

/** The form of `COUNTERSIGN_REDIS_URL`, for messages. */
const REDIS_URL_FORM =
  'must be redis://host:port, sentinel:redis://a:26379,redis://b:26379 or cluster:redis://a:6379,redis://b:6379 (rediss:// for TLS)';

type Members = Readonly<Record<string, unknown>>;

interface Override {
  /**
   * The members that the variable's value stands for, given those so far; undefined when it has another form, or what is wrong with
   * them.
   */
  members(value: string, before: Members): Members | string | undefined;
  readonly form: string;
}

/** The variables that override members of the file, in the order in which they do. */
const OVERRIDES: Readonly<Record<string, Override>> = {
  COUNTERSIGN_DATA: {
    members: (data) => ({ data }),
    form: 'must be a folder',
  },
  COUNTERSIGN_PUBLIC: {
    members: (value) => {
      const origins = value.trim().split(/[\s,]+/);
      return origins.length === 2 ? { issuer: origins[0], resource: origins[1] } : undefined;
    },
    form: 'must be two origins, of the authorization server and of the resource server, such as "https://auth.example https://api.example"',
  },
  COUNTERSIGN_POSTGRES_URL: {
    members: (value, { store }) => {
      const urls = value.trim().split(/[\s,]+/);
      const wrong = urls.map(readPostgresUrl).find((read) => typeof read === 'string');
      if (wrong !== undefined) return urls.length > 1 ? `${wrong}; ${COMMAS}` : wrong;
      return { store: { ...(isPostgres(store) && store), kind: 'postgres', urls } };
    },
    form: `must be ${POSTGRES_URL_FORM}`,
  },
  COUNTERSIGN_REDIS_URL: {
    members: (value, { store }) => {
      const redis = parseRedisUrl(value);
      if (redis === undefined || !isPostgres(store)) return redis && BESIDE_POSTGRES;
      const { redis: before } = store;
      return { store: { ...store, redis: { ...(isObject(before) && before), ...redis } } };
    },
    form: REDIS_URL_FORM,
  },
  COUNTERSIGN_AUTHZ_URL: {
    members: reachedAt,
    form: 'must be an origin such as http://127.0.0.1:3000',
  },
};

const PREFIX = 'COUNTERSIGN_';

/** Variables that the command line and what starts the servers read. */
const OTHERS = [
  'COUNTERSIGN_CONFIG',
  'COUNTERSIGN_SECRET',
  'COUNTERSIGN_SECRET_FILE',
  'COUNTERSIGN_WORKERS',
  'COUNTERSIGN_CLIENT_ID',
  'COUNTERSIGN_CLIENT_SECRET',
];

/** Variables that nobody means to write for a server: of docker-compose.yml, and what a parent tells its workers. */
const NOT_MEANT = [
  'COUNTERSIGN_AUTHZ_HOST',
  'COUNTERSIGN_RESOURCE_HOST',
  'COUNTERSIGN_CERTIFICATE',
  'COUNTERSIGN_POSTGRES_PASSWORD',
  'COUNTERSIGN_REDIS_PASSWORD',
  'COUNTERSIGN_WORKER',
  'COUNTERSIGN_PAIR',
  'COUNTERSIGN_TERMINAL',
];

/** The variables that Kubernetes gives each pod for a service whose name begins as our variables do. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)$/;
const OF_KUBERNETES =
  'is set by Kubernetes for a service, and nothing reads it: give the pod enableServiceLinks: false';

/** A mistake for each variable that begins as ours do and that nothing reads, such as COUNTERSIGN_REDIS. */
export function unknownVariables(env: NodeJS.ProcessEnv): readonly Mistake[] {
  const meant = [...Object.keys(OVERRIDES), ...OTHERS];
  const known = new Set([...meant, ...NOT_MEANT]);
  const isPod = env['KUBERNETES_SERVICE_HOST'] !== undefined;
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .map((path) => {
      if (isPod && SERVICE_LINK.test(path)) return { path, message: OF_KUBERNETES };
      const near = nearest(
        path.slice(PREFIX.length),
        meant.map((name) => name.slice(PREFIX.length)),
      );
      const remedy = near === undefined ? 'correct its name' : `did you mean ${PREFIX}${near}?`;
      return { path, message: `is a variable that nothing reads: remove it, or ${remedy}` };
    });
}

/** Returns the members that the environment overrides, and its mistakes. An empty variable counts as absent. */
export function environmentMembers(
  env: NodeJS.ProcessEnv,
  file: Members,
): { members: Members; mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const members = {};
  for (const [path, override] of Object.entries(OVERRIDES)) {
    const value = env[path];
    if (!value) continue;
    const overridden = override.members(value, { ...file, ...members });
    if (typeof overridden === 'object') Object.assign(members, overridden);
    else mistakes.push({ path, message: overridden ?? override.form });
  }
  return { members, mistakes };
}

/**
 * Where the resource server asks the authorization server: for its keys, and where it is the token issuer
 * as well, to verify tokens. Addresses that the file names for these stay.
 */
function reachedAt(value: string, { issuer, jwks, privateTokens }: Members): Members | undefined {
  if (!URL.canParse(value) || new URL(value).origin !== value) return undefined;
  return {
    // A value of another form is a mistake in the file. It is reported when all is read.
    ...((jwks === undefined || isObject(jwks)) && { jwks: { url: `${value}/jwks`, ...jwks } }),
    ...(isObject(privateTokens) &&
      issuer !== undefined &&
      privateTokens['issuer'] === issuer && { privateTokens: { url: value, ...privateTokens } }),
  };
}

/** A store of PostgreSQL keeps its other members under another address. */
const isPostgres = (store: unknown): store is Members =>
  isObject(store) && store['kind'] === 'postgres';

const COMMAS = 'commas are between several of these, and a comma of the password is %2C';

const BESIDE_POSTGRES =
  'names Redis, which tells several machines what is revoked, and keeps nothing of people: set COUNTERSIGN_POSTGRES_URL as well, or store.kind to "postgres"';

type RedisUrl = Pick<RedisSettings, 'mode' | 'urls'>;

/**
 * `[sentinel:|cluster:]url[,url...]`: the prefix chooses the mode; without one it is a single server.
 * A comma within a password is written `%2C`. Undefined when the value has another form.
 */
export function parseRedisUrl(value: string): RedisUrl | undefined {
  const [, mode = 'single', list = ''] = /^(?:(sentinel|cluster):)?(.*)$/s.exec(value) ?? [];
  const urls = list.split(',').map((url) => url.trim());
  if (mode === 'single' && urls.length > 1) return undefined;
  if (!urls.every(isRedisUrl)) return undefined;
  return { mode: mode as RedisSettings['mode'], urls };
}
