import { readMasterSecret } from '#shared/config/secret.ts';
import type { KeyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { longestLife } from '#shared/stores/lifetime.ts';
import type { Shell } from './command.ts';
import { withStores } from './with-stores.ts';

/** Runs `work` on the signing keys that the servers use. */
export async function withKeys<T>(
  shell: Shell,
  work: (life: KeyLifecycle) => Promise<T>,
): Promise<T> {
  return withStores(shell, async (stores, config) =>
    work({
      stores,
      master: await readMasterSecret(config, shell.env, shell.random),
      clock: shell.clock,
      random: shell.random,
      overlap: config.jwks.overlap,
      longestLife: longestLife(config),
    }),
  );
}
