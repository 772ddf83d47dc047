import { startRedis } from '../../parts/redis.ts';

/** A Redis of its own for a pair: each write is on the disk, here in memory, before it is acknowledged. */
export interface RedisStore {
  /** The settings of the pair. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly pid: number;
}

/** It stays on the load generator's CPU. */
export async function startRedisStore(stack: AsyncDisposableStack): Promise<RedisStore> {
  const redis = stack.use(await startRedis({ appendonly: true }));
  return {
    settings: { store: { kind: 'redis', mode: 'single', urls: [redis.url] } },
    url: redis.url,
    pid: Number(/process_id:(\d+)/.exec(await redis.cli('INFO', 'server'))?.[1]),
  };
}
