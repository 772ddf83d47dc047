import { afterAll, beforeAll } from '@jest/globals';
import { type Postgres, startPostgres } from '../../e2e/parts/postgres.ts';
import { startCluster } from '../../e2e/parts/redis-cluster.ts';
import { startSentinels } from '../../e2e/parts/redis-sentinel.ts';
import { startRedis } from '../../e2e/parts/redis.ts';
import { BESIDE_PARTS, storesContract } from './contract/index.ts';
import { postgresUnderTest } from './postgres/under-test.ts';
import { besideUnderTest, redisConfig } from './redis/under-test.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

storesContract(
  'PostgreSQL and Redis, single',
  async () => {
    const redis = await startRedis();
    const config = redisConfig({ urls: [redis.url] });
    return besideUnderTest(await postgresUnderTest(postgres), config, [redis], redis);
  },
  BESIDE_PARTS,
);

storesContract(
  'PostgreSQL and Redis, Sentinel',
  async () => {
    const set = await startSentinels();
    const config = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 });
    return besideUnderTest(await postgresUnderTest(postgres), config, [set.servers[0]!], set);
  },
  BESIDE_PARTS,
);

storesContract(
  'PostgreSQL and Redis, Cluster of three masters',
  async () => {
    const cluster = await startCluster();
    const config = redisConfig({ mode: 'cluster', urls: cluster.urls });
    return besideUnderTest(await postgresUnderTest(postgres), config, cluster.servers, cluster);
  },
  BESIDE_PARTS,
);
