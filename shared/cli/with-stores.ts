import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { silentLog } from '#shared/log.ts';
import { longestLife } from '#shared/oauth/lifetime.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Shell } from './command.ts';

/** Runs `work` on the configuration and the stores that the servers use, and closes the stores. */
export async function withStores<T>(
  shell: Shell,
  work: (stores: Stores, config: Config) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(shell.env);
  await using stores = await openStores(config, {
    clock: shell.clock,
    random: shell.random,
    log: silentLog,
    longestLife: longestLife(config),
  });
  return await work(stores, config);
}
