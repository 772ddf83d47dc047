import { groupOf } from '#shared/http/spelling.ts';
import { cachedAddress } from '../stores/cached-space.ts';
import type { Command } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const cachePurge: Command = {
  name: 'cache purge',
  store: 'opens',
  summary: 'have all caches forget what they keep of a URL',
  operands: ['URL', '[URL...]'],
  options: { soft: { help: 'it is not forgotten, but asked for again before it is used' } },
  details: [
    'URL: as clients ask for it, with its query. All that is kept of it goes, whoever it was for',
    'and whatever was asked. From then on no server of the store uses it.',
  ],
  run: ({ operands, flag }, shell) =>
    withStores(shell, async ({ invalidations }, config) => {
      const soft = flag('soft');
      const purged = operands.map((url) => {
        const { space, target } = cachedAddress(config, url);
        return { space, kind: 'target' as const, value: groupOf(target), soft };
      });
      await invalidations.add(purged);
      return {
        json: purged.map(({ space, value }) => ({ space, target: value, soft })),
        lines: operands.map((url) => `Purged ${url}.`),
      };
    }),
};
