import type { Mistake } from './mistake.ts';
import { parseRedisUrl, REDIS_URL_FORM } from './redis-url.ts';

type Members = Readonly<Record<string, unknown>>;

interface Override {
  /** The members that the variable's value stands for; undefined when it has another form. */
  members(value: string, file: Members): Members | undefined;
  readonly form: string;
}

/** The variables that override members of the file. */
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
  COUNTERSIGN_REDIS_URL: {
    members: (value, { store }) => {
      const redis = parseRedisUrl(value);
      return redis && { store: { ...redisMembers(store), kind: 'redis', ...redis } };
    },
    form: REDIS_URL_FORM,
  },
};

/** What the environment overrides, and what is wrong with it. An empty variable counts as absent. */
export function environmentMembers(
  env: NodeJS.ProcessEnv,
  file: Members,
): { members: Members; mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = [];
  const members = {};
  for (const [path, override] of Object.entries(OVERRIDES)) {
    const value = env[path];
    if (!value) continue;
    const overridden = override.members(value, file);
    if (overridden === undefined) mistakes.push({ path, message: override.form });
    Object.assign(members, overridden);
  }
  return { members, mistakes };
}

/** A Redis store of the file keeps its prefix, master and replicas under another address. */
function redisMembers(store: unknown): object {
  const isRedis =
    typeof store === 'object' && store !== null && 'kind' in store && store.kind === 'redis';
  return isRedis ? store : {};
}
