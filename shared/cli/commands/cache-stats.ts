import { type ShownCache, showCaches } from '#shared/operations/cache/cache-stats.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

export const cacheStats = listCommandOf(showCaches, {
  details: [
    'The figures are up to half a minute old. A process that was silent for a minute is left out.',
  ],
  nothing: () =>
    'No process has reported a cache. Each one reports within half a minute of its start.',
  lines: (items: readonly ShownCache[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['process', 'space', 'answers', 'size', 'counts', ''];

const row = ({ process, origin, space, entries, octets, counts, bans }: ShownCache) => [
  process,
  `${origin}${space}`,
  `${entries} kept`,
  `${(octets / 1024 / 1024).toFixed(1)} MiB`,
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', '),
  bans.some(({ swept }) => !swept) ? 'a ban is under way' : '',
];
