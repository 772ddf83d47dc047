import { counted } from '#shared/base/counted.ts';
import { readRule, ruleText } from '#shared/http/ban-rule.ts';
import type { CacheReport } from '#shared/stores/cache/cache-report.ts';
import type { KeptInvalidation } from '#shared/stores/cache/invalidations.ts';
import { cacheReports } from '../stores/cache-reports.ts';
import type { Command } from '../arguments/command.ts';
import { minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { withStores } from '../stores/with-stores.ts';

/** At most, of the last day. */
const MOST = 100;

export const cacheBans: Command = {
  name: 'cache bans',
  store: 'opens',
  summary: 'list the bans of the last day, and how many answers each removed',
  details: [`The command lists the last ${MOST}. Their counts are up to half a minute old.`],
  run: (_, shell) =>
    withStores(shell, async (stores) => {
      const kept = await stores.invalidations.list('ban', MOST);
      const reports = await cacheReports(stores.cacheReports);
      const spaces = reports.flatMap(({ report }) => report);
      const bans = kept.map((ban) => shown(ban, met(ban, spaces)));
      return {
        json: bans,
        get lines() {
          return bans.length === 0
            ? ['There was no ban in the last day.']
            : table(HEADINGS, bans.map(row));
        },
      };
    }),
};

function shown({ space, value, soft, at }: KeptInvalidation, tally: ReturnType<typeof met>) {
  return { at: minute(at), space, banned: readRule(value) ?? value, soft, ...tally };
}

/** Counts the answers that the running processes have met by a ban, and the processes that have not gone through their store. */
function met({ space, value, at }: KeptInvalidation, spaces: CacheReport) {
  const same = spaces
    .filter((one) => one.space === space)
    .flatMap(
      ({ bans }) => bans.find((ban) => ban.at === at && JSON.stringify(ban.rule) === value) ?? [],
    );
  return {
    met: same.reduce((sum, ban) => sum + ban.met, 0),
    pending: same.filter(({ swept }) => !swept).length,
  };
}

const HEADINGS = ['time', 'space', 'banned', 'answers are', 'met', 'progress'];

const row = ({ at, space, banned, soft, met: answers, pending }: ReturnType<typeof shown>) => [
  at,
  space,
  typeof banned === 'string' ? banned : ruleText(banned),
  soft ? 'asked for again' : 'removed',
  String(answers),
  pending === 0 ? 'done' : `${counted(pending, 'process', 'processes')} not yet done`,
];
