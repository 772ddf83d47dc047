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
  summary: 'list the bans of the last day, and how many answers they met',
  details: [`The last ${MOST} are listed. What servers say of them is up to half a minute old.`],
  run: (_, shell) =>
    withStores(shell, async (stores) => {
      const kept = await stores.invalidations.list('ban', MOST);
      const reports = await cacheReports(stores.cacheReports);
      const spaces = reports.flatMap(({ report }) => report);
      const bans = kept.map((ban) => shown(ban, met(ban, spaces)));
      return {
        json: bans,
        get lines() {
          return bans.length === 0 ? ['There was no ban.'] : table(HEADINGS, bans.map(row));
        },
      };
    }),
};

function shown({ space, value, soft, at }: KeptInvalidation, counted: ReturnType<typeof met>) {
  return { at: minute(at), space, banned: readRule(value) ?? value, soft, ...counted };
}

/** What the processes that run have met by it, and how many have yet to go through their store. */
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

const HEADINGS = ['time', 'space', 'banned', '', 'answers', ''];

const row = ({ at, space, banned, soft, met: answers, pending }: ReturnType<typeof shown>) => [
  at,
  space,
  typeof banned === 'string' ? banned : ruleText(banned),
  soft ? 'soft' : '',
  `met ${answers}`,
  pending === 0 ? '' : `under way in ${pending}`,
];
