import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Connection } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { milliseconds } from '../connection/milliseconds.ts';

/** `{prefix}:replay:{namespace}:{SHA-256 of the key}`: there for as long as the key counts as seen. */
export function redisReplay(redis: Connection, prefix: string): Replay {
  const nameOf = (namespace: string, key: string) =>
    `${prefix}:replay:${namespace}:${digestOf(key)}`;
  return {
    async unique(namespace, key, seconds) {
      const reply = await redis.durableCommand<'OK' | null>(
        'SET',
        nameOf(namespace, key),
        '',
        'NX',
        'PX',
        milliseconds(seconds),
      );
      return reply === 'OK';
    },
    seen: async (namespace, key) =>
      (await redis.command<number>('EXISTS', nameOf(namespace, key))) === 1,
  };
}
