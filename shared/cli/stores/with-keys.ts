import { readMasterSecret } from '#shared/config/secret.ts';
import { type KeyLifecycle, keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import type { KeyTable } from '#shared/stores/keys/keys.ts';
import type { Input, Option, Shell } from '../arguments/command.ts';
import { withStores } from './with-stores.ts';

export const GATEWAY: Option = {
  help: 'the keys of the gateway, which signs statements for applications, not those of tokens',
};

export const tableOf = (input: Input): KeyTable => (input.flag('gateway') ? 'gatewayKeys' : 'keys');

/** Runs `work` on the signing keys that the servers use: the authorization server's or the gateway's. */
export async function withKeys<T>(
  shell: Shell,
  table: KeyTable,
  work: (life: KeyLifecycle) => Promise<T>,
): Promise<T> {
  return withStores(shell, async (stores, config) => {
    const { env, clock, random } = shell;
    const master = await readMasterSecret(config, env, random);
    return work(keyLifecycle(table, { stores, master, clock, random, config }));
  });
}
