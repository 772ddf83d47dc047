import * as z from 'zod';
import { readRule } from '#shared/http/ban-rule.ts';
import type { CacheReport } from '#shared/stores/cache/reports.ts';
import type { KeptInvalidation } from '#shared/stores/cache/invalidations.ts';
import { operation } from '../operation.ts';
import { pageIn, pageInput, pageOf } from '../page.ts';
import { banCached } from './cache-ban.ts';
import { cacheReports } from './cache-reports.ts';

/** The most bans in the list, which covers the last day. */
export const MOST_BANS = 100;

const item = z.strictObject({
  at: z.string().describe('the time of the ban, to a minute'),
  space: z.string(),
  banned: z
    .union([banCached.output.shape.banned, z.string()])
    .describe('the rule of the ban; a text if a newer version made the ban'),
  soft: z.boolean(),
  met: z
    .int()
    .optional()
    .describe(
      'number of answers that the ban removed in the running processes; absent: no process has reported yet',
    ),
  pending: z.int().describe('number of processes that have not searched their cache yet'),
});

/** A ban as operators see it. */
export type ShownBan = z.output<typeof item>;

export const listBans = operation({
  name: 'cache bans',
  summary: 'list the bans of the last day, and how many answers each removed',
  effect: 'reads',
  input: z.strictObject(pageInput),
  operands: [],
  output: pageOf(item),
  async run(page, { stores }) {
    const kept = await stores.invalidations.list('ban', MOST_BANS);
    const reports = await cacheReports(stores.cacheReports);
    const spaces = reports.flatMap(({ report }) => report);
    const { items, next } = pageIn(kept, page, ({ position }) => position);
    return { items: items.map((ban) => shown(ban, spaces)), ...(next !== undefined && { next }) };
  },
});

function shown({ space, value, soft, at }: KeptInvalidation, spaces: CacheReport): ShownBan {
  const same = spaces
    .filter((one) => one.space === space)
    .flatMap(
      ({ bans }) => bans.find((ban) => ban.at === at && JSON.stringify(ban.rule) === value) ?? [],
    );
  return {
    at: `${new Date(at).toISOString().slice(0, 16)}Z`,
    space,
    banned: readRule(value) ?? value,
    soft,
    ...(same.length > 0 && { met: same.reduce((sum, ban) => sum + ban.met, 0) }),
    pending: same.filter(({ swept }) => !swept).length,
  };
}
