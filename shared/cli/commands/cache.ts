import { showCaches, type ShownCache } from '#shared/operations/cache/cache-stats.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { purgeCached } from '#shared/operations/cache/cache-purge.ts';
import { ruleText } from '#shared/http/ban-rule.ts';
import { banCached } from '#shared/operations/cache/cache-ban.ts';
import { counted } from '#shared/base/counted.ts';
import { listBans, MOST_BANS, type ShownBan } from '#shared/operations/cache/cache-bans.ts';

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

export const cachePurge = commandOf(purgeCached, {
  details: [
    'URL is as clients send it, with its query. The command removes every variant and the answers for every person.',
    'When the command returns, no server of the store uses these answers.',
  ],
  lines: (_, { urls }) => urls.map((url) => `Purged ${url}.`),
});

export const cacheBan = commandOf(banCached, {
  details: [
    'URL is the URL of the space. An answer must match all options. A * matches any characters.',
    'A path without ? matches with every query.',
  ],
  lines: ({ space, banned }) => [`Banned ${ruleText(banned)} in ${space}.`],
});

export const cacheBans = listCommandOf(listBans, {
  details: [`The command lists the last ${MOST_BANS}. Their counts are up to half a minute old.`],
  nothing: () => 'There was no ban in the last day.',
  lines: (items: readonly ShownBan[], widths) => table(BAN_HEADINGS, items.map(banRow), widths),
});

const BAN_HEADINGS = ['time', 'space', 'banned', 'answers are', 'met', 'progress'];

function progressOf(answers: ShownBan['met'], pending: number): string {
  if (answers === undefined) return 'no process has reported yet';
  return pending === 0 ? 'done' : `${counted(pending, 'process', 'processes')} not yet done`;
}

const banRow = ({ at, space, banned, soft, met: answers, pending }: ShownBan) => [
  at,
  space,
  typeof banned === 'string' ? banned : ruleText(banned),
  soft ? 'asked for again' : 'removed',
  answers === undefined ? '' : String(answers),
  progressOf(answers, pending),
];
