import type { Redis } from '../../parts/redis.ts';

/** Commands of whoever measures and of connections, which are no part of an operation. */
const APART = new Set(
  'auth client cluster command config eval evalsha hello info ping readonly script select'.split(
    ' ',
  ),
);

/** Returns the calls in the answer to `INFO commandstats`. A script stands for the commands that it calls. */
export function countCommands(info: string): number {
  let sum = 0;
  for (const [, name = '', calls] of info.matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gm)) {
    if (!APART.has(name)) sum += Number(calls);
  }
  return sum;
}

export const resetShards = (shards: readonly Redis[]): Promise<unknown> =>
  Promise.all(shards.map((shard) => shard.cli('CONFIG', 'RESETSTAT')));

/** Returns the commands that each shard has run since it was reset. */
export const commandsOf = (shards: readonly Redis[]): Promise<readonly number[]> =>
  Promise.all(shards.map(async (shard) => countCommands(await shard.cli('INFO', 'commandstats'))));
