import { purgeCached } from '#shared/operations/cache/cache-purge.ts';
import { commandOf } from '../stores/of-operation.ts';

export const cachePurge = commandOf(purgeCached, {
  details: [
    'URL is as clients send it, with its query. The command removes every variant and the answers for every person.',
    'When it returns, no server of the store uses them.',
  ],
  lines: (_, { urls }) => urls.map((url) => `Purged ${url}.`),
});
