import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { configSchema } from '#shared/config/schema.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { backupChore } from './backup-chore.ts';

test('a backup that fails is told, tried again after a minute, and no more once it is there', async () => {
  const data = await temporaryFolder();
  const clock = new ManualClock();
  const made: unknown[] = [];
  const log = { ...silentLog, info: (event: string) => made.push(event) };
  const settings = { folder: join(data, 'backups'), every: 3600, keep: 1 };
  const config = configSchema.parse({ data });
  await using chore = backupChore({ config, clock, random: systemRandom, log }, settings);
  await expect(chore.run()).rejects.toThrow('no such file');
  await using _ = await openSqlite({ folder: data, clock, random: systemRandom });
  await chore.run();
  expect(made).toEqual([]);
  clock.advance(60_000);
  await chore.run();
  await chore.run();
  expect(made).toEqual(['backup.made']);
});
