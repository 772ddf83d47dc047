import { startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import { storesContract } from '../contract/index.ts';
import { redisConfig, redisUnderTest } from './under-test.ts';

storesContract('Redis, Sentinel', async () => {
  const set = await startSentinels({ password: 'swordfish' });
  const config = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 });
  return redisUnderTest(config, [set.servers[0]!], set);
});
