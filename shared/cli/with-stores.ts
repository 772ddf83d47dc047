import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/lifetime.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Shell } from './command.ts';

/** Opens the configuration and the stores that the servers use. */
export async function openShellStores(
  shell: Shell,
): Promise<{ readonly stores: Stores; readonly config: Config } & AsyncDisposable> {
  const config = await loadConfig(shell.env);
  const stores = await openStores(config, {
    clock: shell.clock,
    random: shell.random,
    log: silentLog,
    longestLife: longestLife(config),
  });
  return { stores, config, [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose]() };
}

/** Runs `work` on them, and closes the stores. */
export async function withStores<T>(
  shell: Shell,
  work: (stores: Stores, config: Config) => Promise<T>,
): Promise<T> {
  await using opened = await openShellStores(shell);
  return await work(opened.stores, opened.config);
}
