import { createPasswords } from '#shared/people/password.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { longestLife } from '#shared/stores/lifetime.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Shell } from './command.ts';
import { withStores } from './with-stores.ts';

/** Runs `work` on the people of the stores that the servers use. */
export async function withPeople<T>(
  shell: Shell,
  work: (store: PeopleStore & { readonly stores: Stores }) => Promise<T>,
): Promise<T> {
  return withStores(shell, async (stores, config) =>
    work({
      stores,
      clock: shell.clock,
      random: shell.random,
      longestLife: longestLife(config),
      passwords: createPasswords(),
      realms: neededVerifiers(config),
    }),
  );
}
