import type { TokenKeyLifecycle } from '#shared/keys/token-key-lifecycle.ts';
import { tokenKeyLife } from '#shared/operations/keys/token-keys.ts';
import type { Shell } from '../arguments/command.ts';
import { withPeople } from './with-people.ts';

/** Runs `work` on the token issuer's keys that the servers use. */
export const withTokenKeys = <T>(
  shell: Shell,
  work: (life: TokenKeyLifecycle) => Promise<T>,
): Promise<T> => withPeople(shell, async (house) => work(await tokenKeyLife(house)));
