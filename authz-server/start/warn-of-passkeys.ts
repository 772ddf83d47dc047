import { passkeyWarning } from '#shared/config/passkey-warning.ts';
import type { Parts } from '#shared/server/process.ts';

/** How many passkeys a start looks at: after a change of the domain those of the first people are for the former one. */
const LOOKED_AT = 1_000;

/** Logs a warning if people have passkeys for another domain than that of the configuration. */
export async function warnOfPasskeys({
  config,
  stores: { passkeys },
  log,
}: Pick<Parts, 'config' | 'log'> & {
  readonly stores: Pick<Parts['stores'], 'passkeys'>;
}): Promise<void> {
  const warning = await passkeyWarning(config, passkeys, LOOKED_AT);
  if (warning !== undefined) {
    log.warn('passkeys.other-domain', { reason: `${warning.path} ${warning.message}` });
  }
}
