import { isObject } from '#shared/jose/compact-jws.ts';
import { ConfigError, type Mistake } from '#shared/base/mistake.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { nearest } from '#shared/base/nearest.ts';
import { POSTGRES_URL_FORM, readPostgresUrl } from '#shared/stores/postgres-url.ts';
import { isRedisUrl } from '#shared/stores/redis-url.ts';
import type { RedisSettings } from '#shared/stores/settings.ts';
import { readGivenFile } from './given-file.ts';
import { FILE, PREFIX, SETTING_VARIABLES, type SettingVariable } from './variables.ts';

/** The form of `COUNTERSIGN_REDIS_URL`, for messages. */
const REDIS_URL_FORM =
  'must be redis://host:port, sentinel:redis://a:26379,redis://b:26379 or cluster:redis://a:6379,redis://b:6379 (rediss:// for TLS)';

type Members = Readonly<Record<string, unknown>>;

interface Override {
  /**
   * Returns the members of the configuration that the variable's value sets. `before`: the members so far. Undefined if
   * the value has another form; a string says what is wrong.
   */
  members(value: string, before: Members): Members | string | undefined;
  readonly form: string;
}

/**
 * Variables that set several settings each. They take precedence over the variables of the single settings, in this
 * order.
 */
export const OVERRIDES: Readonly<Record<string, Override>> = {
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

/** Variables that the command line and the processes around the servers read. */
const OTHERS = [
  'COUNTERSIGN_CONFIG',
  'COUNTERSIGN_SECRET',
  'COUNTERSIGN_SECRET_FILE',
  'COUNTERSIGN_WORKERS',
  'COUNTERSIGN_CLIENT_ID',
  'COUNTERSIGN_CLIENT_SECRET',
];

/**
 * Variables that are not set for a server by hand: those of docker-compose.yml, and those that a parent process passes
 * to its workers.
 */
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

/** Each of these variables may also have the suffix `_FILE`. */
const VALUES = [...SETTING_VARIABLES.keys(), ...Object.keys(OVERRIDES)];
const KNOWN: ReadonlySet<string> = new Set([
  ...VALUES.flatMap((name) => [name, `${name}${FILE}`]),
  ...OTHERS,
  ...NOT_MEANT,
]);

/**
 * True for a variable that Kubernetes sets in each pod for a service whose name begins like our variables, or that
 * Docker sets for a link. A setting never has such a value.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(
      name,
    ) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
  );
}

type Variable = readonly [name: string, value: string];

/** Returns the variables with our prefix that have a value. An empty variable counts as absent. */
function ours(env: NodeJS.ProcessEnv): readonly Variable[] {
  return Object.entries(env).flatMap(([name, value]): Variable[] =>
    name.startsWith(PREFIX) && value ? [[name, value]] : [],
  );
}

/**
 * Returns a note for each variable that Kubernetes has set for a service. No setting reads the variable, and the server
 * starts all the same.
 */
export function serviceLinks(env: NodeJS.ProcessEnv): readonly Mistake[] {
  return ours(env)
    .filter((variable) => isServiceLink(...variable))
    .map(([path]) => ({
      path,
      message:
        'is set by Kubernetes for a service, and nothing reads it: give the pod enableServiceLinks: false',
    }));
}

/**
 * Returns a mistake for each variable with our prefix that nothing reads, such as COUNTERSIGN_REDIS. A misspelt
 * variable is refused, as in the file: without the setting that it means, a server might be open to all.
 */
function unknownVariables(variables: readonly Variable[]): readonly Mistake[] {
  return variables
    .filter(([name]) => !KNOWN.has(name))
    .map(([path]) => {
      const [, word = ''] = /^COUNTERSIGN_(.*?)(?:_FILE)?$/s.exec(path) ?? [];
      const meant = [...VALUES, ...OTHERS].map((name) => name.slice(PREFIX.length));
      const near = nearest(word, meant);
      const withFile = `${PREFIX}${near}${FILE}`;
      const name = path.endsWith(FILE) && KNOWN.has(withFile) ? withFile : `${PREFIX}${near}`;
      const remedy = near === undefined ? 'correct its name' : `did you mean ${name}?`;
      return { path, message: `is a variable that nothing reads: remove it, or ${remedy}` };
    });
}

/**
 * Returns the members of the file, replaced by the values of the environment where it has some, and the mistakes in
 * these values.
 */
export async function withEnvironment(
  env: NodeJS.ProcessEnv,
  file: Members,
): Promise<{ members: Record<string, unknown>; mistakes: readonly Mistake[] }> {
  const variables = ours(env).filter((variable) => !isServiceLink(...variable));
  const mistakes = [...unknownVariables(variables)];
  const values = new Map<string, string>();
  for (const [variable, value] of variables) {
    const name = variable.slice(0, -FILE.length);
    const isFile = !isNamed(variable) && variable.endsWith(FILE) && isNamed(name);
    if (!isFile && !isNamed(variable)) continue;
    if (isFile && env[name]) {
      mistakes.push({ path: name, message: `is set beside ${variable}: keep one of them` });
    } else {
      const read = isFile ? await valueIn(variable, value) : value;
      if (typeof read === 'string') values.set(isFile ? name : variable, read);
      else mistakes.push(...read);
    }
  }
  const members = structuredClone(file) as Record<string, unknown>;
  const settings = [...SETTING_VARIABLES.values()].toSorted(
    (a, b) => a.path.length - b.path.length,
  );
  for (const setting of settings) {
    const value = values.get(setting.name);
    if (value === undefined) continue;
    try {
      const inTheWay = put(members, setting.path, parsed(value, setting));
      if (inTheWay === undefined) continue;
      const path = setting.path.join('.');
      const message = `cannot be set, since ${inTheWay.join('.')} is no object: correct it, or remove this variable`;
      mistakes.push({ path, message });
    } catch (error) {
      if (!(error instanceof StrictJsonError)) throw error;
      const path = [setting.path.join('.'), ...error.path].join('.');
      mistakes.push({ path, message: `${error.message}: write it as in the file` });
    }
  }
  for (const [path, override] of Object.entries(OVERRIDES)) {
    const value = values.get(path);
    if (value === undefined) continue;
    const overridden = override.members(value, members);
    if (typeof overridden === 'object') Object.assign(members, overridden);
    else mistakes.push({ path, message: overridden ?? override.form });
  }
  return { members, mistakes };
}

const isNamed = (name: string) => SETTING_VARIABLES.has(name) || Object.hasOwn(OVERRIDES, name);

/** Returns the value in a file without its last line break, or what is wrong with the file. */
async function valueIn(variable: string, file: string): Promise<string | readonly Mistake[]> {
  try {
    const value = (await readGivenFile(variable, file)).replace(/\r?\n$/, '');
    return value === ''
      ? [{ path: variable, message: `${file} is empty: write the value into it` }]
      : value;
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

/** Parses the value of a variable. If the text should be a number and is none, the schema reports that later. */
function parsed(value: string, { isText, isStructure }: SettingVariable): unknown {
  const looksLikeStructure = isStructure && /^\s*[[{]/.test(value);
  if (isText && !looksLikeStructure) return value;
  try {
    return parseStrictJson(value);
  } catch (error) {
    if (isStructure) throw error;
    return value;
  }
}

/**
 * Sets a nested member, and makes the missing objects on the way to it. Returns the path of a value on the way that is
 * no object, which stays.
 */
function put(
  members: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): readonly string[] | undefined {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    members[name] = value;
    return undefined;
  }
  if (members[name] === undefined) members[name] = {};
  const inner = members[name];
  if (!isObject(inner)) return [name];
  const inTheWay = put(inner, rest, value);
  return inTheWay && [name, ...inTheWay];
}

/**
 * Sets the addresses at which the resource server fetches the keys of the authorization server and has private tokens
 * verified. Addresses in the file take precedence.
 */
function reachedAt(value: string, { issuer, jwks, privateTokens }: Members): Members | undefined {
  if (!URL.canParse(value) || new URL(value).origin !== value) return undefined;
  return {
    // The file has a value of another form. The schema reports this mistake later.
    ...((jwks === undefined || isObject(jwks)) && { jwks: { url: `${value}/jwks`, ...jwks } }),
    ...(isObject(privateTokens) &&
      issuer !== undefined &&
      privateTokens['issuer'] === issuer && { privateTokens: { url: value, ...privateTokens } }),
  };
}

/** True if the file names a PostgreSQL store. The variable then replaces only its address. */
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
