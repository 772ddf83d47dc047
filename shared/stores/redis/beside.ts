import { limitsOver } from '#shared/stores/limits/blocks.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { type MemoryOptions, redisMemory } from './authentication/memory.ts';
import { redisProofs } from './authentication/proofs.ts';
import { redisSessions, type SessionOptions } from './authentication/sessions.ts';
import { redisUseCounts } from './authentication/use-counts.ts';
import { redisCacheReports } from './cache/cache-reports.ts';
import type { Connection } from './connection/connection.ts';
import { redisBuckets } from './limits/buckets.ts';
import { redisKept } from './trees/kept.ts';

/** The parts that Redis keeps in place of the record. It may lose all of them, and nothing is good a second time by that. */
export type BesideParts = Pick<
  Stores,
  'cacheReports' | 'kept' | 'limits' | 'proofs' | 'sessions' | 'useCounts'
>;

export type BesideOptions = MemoryOptions & SessionOptions;

export function besideParts(redis: Connection, options: BesideOptions): BesideParts {
  const { prefix, clock, random } = options;
  const memory = redisMemory(redis, options);
  return {
    cacheReports: redisCacheReports(redis, prefix),
    kept: redisKept(redis, prefix, random),
    limits: limitsOver(redisBuckets(redis, prefix), clock),
    proofs: redisProofs(memory),
    sessions: redisSessions(redis, options),
    useCounts: redisUseCounts(memory),
  };
}
