import type { ScheduledKey } from '#shared/keys/signing-key-schedule.ts';
import { listKeys } from '#shared/keys/signing-key-lifecycle.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { GATEWAY, tableOf, withKeys } from '../stores/with-keys.ts';

const MEANING: Record<ScheduledKey['state'], string> = {
  published: 'published, signs from',
  signing: 'signs, until',
  retiring: 'retiring: signs no more, what it signed lives until',
  retired: 'retired: nothing that it signed lives',
};

export const signingKeysList: Command = {
  name: 'signing-keys list',
  store: 'opens',
  former: 'keys list',
  summary: 'list the signing keys and the state of each',
  options: { gateway: GATEWAY },
  run: (input, shell) =>
    withKeys(shell, tableOf(input), async (life) => {
      const keys = (await listKeys(life)).map(({ key, state, until }) => ({
        kid: key.kid,
        alg: key.alg,
        state,
        until: until === undefined ? undefined : new Date(until).toISOString(),
      }));
      const rows = keys.map(({ kid, alg, state, until }) => [
        kid,
        alg,
        state === 'signing' && !until ? 'signs' : `${MEANING[state]} ${until ?? ''}`,
      ]);
      return {
        json: keys,
        lines: rows.length === 0 ? ['There is no key yet.'] : table(['kid', 'alg', 'state'], rows),
      };
    }),
};
