import { hash } from 'node:crypto';
import { within } from '#shared/base/within.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { IoRedis, RedisClient } from './options.ts';

/** Milliseconds that an answer may take. Without a limit both libraries wait endlessly for a server that is away. */
const PATIENCE = 1000;

/** Only ioredis has `call`; node-redis does not. */
const isIoRedis = (client: RedisClient): client is IoRedis => 'call' in client;

/** Remembers used keys in Redis for all processes, by one SET NX with an expiry, which succeeds for one process. */
export function redisReplay(
  client: RedisClient,
  patience: number = PATIENCE,
): Pick<Replay, 'unique'> {
  const claim = async (key: string, end: number) =>
    isIoRedis(client)
      ? client.set(key, '', 'PX', end, 'NX')
      : client.set(key, '', { NX: true, PX: end });
  return {
    async unique(namespace, key, seconds) {
      const name = `countersign:replay:${namespace}:${hash('sha256', key, 'base64url')}`;
      const reply = await within(patience, claim(name, seconds * 1000)).catch((cause: unknown) => {
        throw new StoreUnavailable(`the Redis of dpop.replay: ${String(cause)}`, { cause });
      });
      return String(reply) === 'OK';
    },
  };
}
