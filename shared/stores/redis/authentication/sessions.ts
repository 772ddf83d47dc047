import { type Random, randomId } from '#shared/base/random.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import { type Connection, script } from '../connection/connection.ts';
import { milliseconds } from '../connection/milliseconds.ts';
import { RUN } from './memory.ts';

/** ARGV: value, milliseconds. */
const put = script(`${RUN}
redis.call('SET', KEYS[1], run() .. ' ' .. ARGV[1], 'PX', ARGV[2])
`);

/** A session of another run may have been taken, and Redis may have forgotten that. */
const found = (command: 'GET' | 'GETDEL') =>
  script(`${RUN}
local of, value = string.match(redis.call('${command}', KEYS[1]) or '', '^(%w+) (.*)$')
return of == run() and value
`);

const get = found('GET');
const take = found('GETDEL');

export interface SessionOptions {
  readonly prefix: string;
  readonly random: Random;
  /** When PostgreSQL was restored: earlier sessions are not found. */
  readonly restored: number;
}

/** The key `{prefix}:session:{restored}:{id}` has the run in which it was written, and the value as JSON. */
export function redisSessions(
  redis: Connection,
  { prefix, random, restored }: SessionOptions,
): Sessions {
  const name = (id: string) => `${prefix}:session:${restored}:${id}`;
  const parsed = (value: string | null): unknown =>
    value === null ? undefined : JSON.parse(value);
  return {
    async put(value, seconds, id = randomId(random)) {
      await redis.durable(put, [name(id)], JSON.stringify(value), milliseconds(seconds));
      return id;
    },
    get: async (id) => parsed(await redis.script<string | null>(get, [name(id)])),
    take: async (id) => parsed(await redis.durable<string | null>(take, [name(id)])),
  };
}
