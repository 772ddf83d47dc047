import { documentNetwork } from '#shared/client-documents/reach.ts';
import type { Config } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import type { House } from '#shared/operations/operation.ts';
import { createPasswords } from '#shared/people/password.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import type { Shell } from '../arguments/command.ts';
import { openShellStores } from './with-stores.ts';

/** Opens the stores that the servers use, for operations; `loaded` and what is thrown as in `openShellStores`. */
export async function openHouse(shell: Shell, loaded?: Config): Promise<House & AsyncDisposable> {
  const opened = await openShellStores(shell, loaded);
  const { stores, recorder, config } = opened;
  return {
    stores,
    recorder,
    config,
    documentNetwork: documentNetwork(config),
    masterSecret: () => readMasterSecret(config, shell.env, shell.random),
    tell: (progress) => shell.note(progress),
    clock: shell.clock,
    random: shell.random,
    longestLife: longestLife(config),
    passwords: createPasswords(),
    realms: neededVerifiers(config),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Runs `work` on the people of the stores that the servers use; `loaded` as in `openShellStores`. */
export async function withPeople<T>(
  shell: Shell,
  work: (house: House, config: Config) => Promise<T>,
  loaded?: Config,
): Promise<T> {
  await using house = await openHouse(shell, loaded);
  return await work(house, house.config);
}
