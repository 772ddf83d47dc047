import { afterAll, beforeAll } from '@jest/globals';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { type Redis, startRedis } from '../../../e2e/parts/redis.ts';
import { invalidationsContract } from '../contract/cache/invalidations.ts';
import { recordedContract } from '../contract/audit/recorded.ts';
import { storesContract } from '../contract/index.ts';
import { followersContract } from '../contract/revocation/followers.ts';
import { generationsContract } from '../contract/revocation/generations.ts';
import { revocationsContract } from '../contract/revocation/revocations.ts';
import { postgresUnderTest } from './under-test.ts';
import { redisConfig } from '../redis/under-test.ts';

let postgres: Postgres;
let redis: Redis;
beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

storesContract(
  'postgres with redis',
  () =>
    postgresUnderTest(postgres, {
      redis: {
        settings: redisConfig({ urls: [redis.url], deadline: 10 }),
        empty: () => redis.cli('FLUSHALL'),
      },
    }),
  [
    revocationsContract,
    generationsContract,
    followersContract,
    invalidationsContract,
    recordedContract,
  ],
);
