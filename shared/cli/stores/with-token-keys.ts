import { readMasterSecret } from '#shared/config/secret.ts';
import { GENERATE, type TokenKeyLifecycle } from '#shared/keys/token-key-lifecycle.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { withStores } from './with-stores.ts';

/** Runs `work` on the token issuer's keys that the servers use. Throws `Failure` where there is no issuer. */
export async function withTokenKeys<T>(
  shell: Shell,
  work: (life: TokenKeyLifecycle) => Promise<T>,
): Promise<T> {
  return withStores(shell, async (stores, config) => {
    const { privateTokens: times } = config;
    if (times === undefined) {
      throw new Failure('this pair issues no tokens: add privateTokens to the configuration');
    }
    const { env, clock, random } = shell;
    const master = await readMasterSecret(config, env, random);
    return work({ stores, master, clock, random, times, generate: GENERATE });
  });
}
