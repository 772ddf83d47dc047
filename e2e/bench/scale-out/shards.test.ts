import { expect, test } from '@jest/globals';
import { startRedis } from '../../parts/redis.ts';
import { commandsOf, countCommands, resetShards } from './shards.ts';

test('commands are counted, those of scripts by what they call, and those of connections not', () => {
  const lines = [
    '# Commandstats',
    'cmdstat_get:calls=3,usec=5,usec_per_call=1.0',
    'cmdstat_evalsha:calls=7,usec=5,usec_per_call=1.0',
    'cmdstat_xinfo|stream:calls=2,usec=5,usec_per_call=1.0',
    'cmdstat_client|setinfo:calls=9,usec=5,usec_per_call=1.0',
  ];
  expect(countCommands(lines.join('\r\n'))).toBe(5);
});

test('a shard is counted from its reset', async () => {
  await using shard = await startRedis();
  await shard.cli('SET', 'a', '1');
  await resetShards([shard]);
  await shard.cli('EVAL', "redis.call('GET', KEYS[1]) redis.call('GET', KEYS[1])", '1', 'a');
  expect(await commandsOf([shard])).toEqual([2]);
});
