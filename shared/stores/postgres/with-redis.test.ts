import { afterAll, beforeAll } from '@jest/globals';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import { startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { recordedContract } from '../contract/audit/recorded.ts';
import { BESIDE_PARTS, storesContract, TOLD_PARTS } from '../contract/index.ts';
import { redisConfig } from '../redis/under-test.ts';
import { postgresUnderTest } from './under-test.ts';

let postgres: Postgres;
const servers = new AsyncDisposableStack();
beforeAll(async () => {
  postgres = servers.use(await startPostgres());
});
afterAll(() => servers.disposeAsync());

/** Seconds. */
const deadline = 10;
const PARTS = [...TOLD_PARTS, ...BESIDE_PARTS];

storesContract(
  'PostgreSQL and Redis, single',
  async () => {
    const redis = servers.use(await startRedis());
    const settings = redisConfig({ urls: [redis.url], deadline });
    return postgresUnderTest(postgres, { redis: { settings, masters: [redis] } });
  },
  [...PARTS, recordedContract],
);

storesContract(
  'PostgreSQL and Redis, Sentinel',
  async () => {
    const set = servers.use(await startSentinels());
    const settings = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1, deadline });
    return postgresUnderTest(postgres, { redis: { settings, masters: [set.servers[0]!] } });
  },
  PARTS,
);

storesContract(
  'PostgreSQL and Redis, Cluster of three masters',
  async () => {
    const cluster = servers.use(await startCluster());
    const settings = redisConfig({ mode: 'cluster', urls: cluster.urls, deadline });
    return postgresUnderTest(postgres, { redis: { settings, masters: cluster.servers } });
  },
  PARTS,
);
