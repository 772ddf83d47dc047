import { groupOf } from '#shared/http/spelling.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { cachedAddress } from '../stores/cached-space.ts';
import type { Command } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const cachePurge: Command = {
  name: 'cache purge',
  store: 'opens',
  summary: 'remove all stored answers of a URL from all caches',
  operands: ['URL', '[URL...]'],
  options: { soft: { help: 'keep the answers, but ask the application again before using them' } },
  details: [
    'URL is as clients send it, with its query. The command removes every variant and the answers for every person.',
    'When it returns, no server of the store uses them.',
  ],
  run: async ({ operands, flag }, shell) => {
    const config = await loadConfig(shell.env);
    const soft = flag('soft');
    const purged = operands.map((url) => {
      const { space, target } = cachedAddress(config, url);
      return { space, kind: 'target' as const, value: groupOf(target), soft };
    });
    const work = async ({ invalidations }: Stores) => {
      await invalidations.add(purged);
      return {
        json: purged.map(({ space, value }) => ({ space, target: value, soft })),
        lines: operands.map((url) => `Purged ${url}.`),
      };
    };
    return withStores(shell, work, config);
  },
};
