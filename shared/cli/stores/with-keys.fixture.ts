import type { KeyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { lifeOf } from '#shared/operations/keys/signing-keys.ts';
import type { KeyTable } from '#shared/stores/keys/keys.ts';
import type { Shell } from '../arguments/command.ts';
import { withPeople } from './with-people.ts';

/** Runs `work` on the signing keys that the servers use: the authorization server's or the gateway's. */
export const withKeys = <T>(
  shell: Shell,
  table: KeyTable,
  work: (life: KeyLifecycle) => Promise<T>,
): Promise<T> =>
  withPeople(shell, async (house) => work(await lifeOf(house, table === 'gatewayKeys')));
