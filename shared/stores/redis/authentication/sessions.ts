import { randomId } from '#shared/base/random.ts';
import type { Random } from '#shared/base/random.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { Connection } from '../connection/connection.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/** `{prefix}:session:{id}`: the value as JSON. */
export function redisSessions(redis: Connection, prefix: string, random: Random): Sessions {
  const name = (id: string) => `${prefix}:session:${id}`;
  const parsed = (value: string | null): unknown =>
    value === null ? undefined : JSON.parse(value);
  return {
    async put(value, seconds, id = randomId(random)) {
      await redis.durableCommand(
        'SET',
        name(id),
        JSON.stringify(value),
        'PX',
        milliseconds(seconds),
      );
      return id;
    },
    get: async (id) => parsed(await redis.command<string | null>('GET', name(id))),
    take: async (id) => parsed(await redis.durableCommand<string | null>('GETDEL', name(id))),
  };
}
