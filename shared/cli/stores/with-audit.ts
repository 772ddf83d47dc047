import { closeOpen, type Closing } from '#shared/audit/close.ts';
import { macKey } from '#shared/audit/mac.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Shell } from '../arguments/command.ts';
import { openShellStores } from './with-stores.ts';

export interface OpenedAudit extends Closing, AsyncDisposable {
  readonly people: Stores['people'];
}

/** Opens the audit log of the servers, and adds all entries that are committed by now, since perhaps no server runs. */
export async function openAudit(shell: Shell): Promise<OpenedAudit> {
  const { env, clock, random } = shell;
  const opened = await openShellStores(shell);
  const master = await readMasterSecret(opened.config, env, random);
  const closing = { audit: opened.stores.audit, key: macKey(master), clock };
  await closeOpen(closing);
  return {
    ...closing,
    people: opened.stores.people,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
