import type { CacheReport } from '#shared/stores/cache/cache-report.ts';
import { cacheReports } from '../stores/cache-reports.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { withStores } from '../stores/with-stores.ts';

export const cacheStats: Command = {
  name: 'cache stats',
  store: 'opens',
  summary: 'show the size and the hits of each cache, process by process',
  details: [
    'The figures are up to half a minute old. A process that was silent for a minute is left out.',
  ],
  run: (_, shell) =>
    withStores(shell, async (stores) => {
      const reports = await cacheReports(stores.cacheReports);
      const all = reports.flatMap(({ process, report }) =>
        report.map((space) => ({ process, ...space })),
      );
      return {
        json: all,
        get lines() {
          return all.length === 0
            ? [
                'No process has reported a cache. Each one reports within half a minute of its start.',
              ]
            : table(HEADINGS, all.map(row));
        },
      };
    }),
};

type Shown = CacheReport[number] & { readonly process: string };

const HEADINGS = ['process', 'space', 'answers', 'size', 'counts', ''];

const row = ({ process, origin, space, entries, octets, counts, bans }: Shown) => [
  process,
  `${origin}${space}`,
  `${entries} kept`,
  `${(octets / 1024 / 1024).toFixed(1)} MiB`,
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', '),
  bans.some(({ swept }) => !swept) ? 'a ban is under way' : '',
];
