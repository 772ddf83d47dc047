import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import type { PostgresSettings } from '../settings.ts';
import { openPostgres } from './open.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const open = (more: Partial<PostgresSettings> = {}) =>
  openPostgres(
    {
      kind: 'postgres',
      urls: [postgres.url],
      schema: 'countersign',
      connections: 20,
      deadline: 10,
      ...more,
    },
    { clock: systemClock, random: systemRandom, log: silentLog },
  );

test('a store has as many connections as it may, and the feed of revocations is asked while all others write', async () => {
  await using stores = await open({ connections: 5 });
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const writing = [0, 1, 2, 3, 4, 5].map(() => stores.together(() => over));
  const held = `FROM pg_stat_activity WHERE application_name = 'countersign'`;
  while ((await postgres.sql(`SELECT count(*) ${held} AND state = 'idle in transaction'`)) !== '3');
  await Promise.all([feed.latest(), feed.latest()]);
  expect(await postgres.sql(`SELECT count(*) <= 5 ${held}`)).toBe('t');
  end();
  await Promise.all(writing);
});
