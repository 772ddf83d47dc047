import { startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import { storesContract } from '../contract/index.ts';
import { redisConfig, redisUnderTest, startedBefore } from './under-test.ts';

storesContract('Redis, Sentinel, in one slot', async () => {
  const set = await startSentinels({ password: 'swordfish' });
  const config = redisConfig({ mode: 'sentinel', urls: set.urls, replicas: 1 });
  const master = set.servers[0]!;
  const begin = () => startedBefore(master);
  await begin();
  return redisUnderTest(config, [master], set, begin);
});
