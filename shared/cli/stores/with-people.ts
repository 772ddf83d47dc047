import { createPasswords } from '#shared/people/password.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Shell } from '../arguments/command.ts';
import { openShellStores } from './with-stores.ts';

export type WholeStore = PeopleStore & { readonly stores: Stores };

/** Runs `work` on the people of the stores that the servers use; `loaded` as in `openShellStores`. */
export async function withPeople<T>(
  shell: Shell,
  work: (store: WholeStore, config: Config) => Promise<T>,
  loaded?: Config,
): Promise<T> {
  await using opened = await openShellStores(shell, loaded);
  const { stores, config } = opened;
  const store = {
    stores,
    clock: shell.clock,
    random: shell.random,
    longestLife: longestLife(config),
    passwords: createPasswords(),
    realms: neededVerifiers(config),
  };
  return await work(store, config);
}
