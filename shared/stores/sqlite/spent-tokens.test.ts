import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from './open.ts';

test('no row shows which of two tokens was spent first: times are whole seconds, rounded up', async () => {
  const clock = new ManualClock();
  const folder = await temporaryFolder();
  await using stores = await openSqlite({ folder, clock, random: systemRandom });
  const start = clock.now();
  for (const milliseconds of [1, 400.5, 999, 1000]) {
    expect(await stores.spentTokens.spend(systemRandom(66), start + milliseconds)).toBe(true);
  }
  using database = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
  const rows = database.prepare('SELECT DISTINCT until FROM spent_token').all();
  expect(rows).toMatchObject([{ until: start + 1000 }]);
  const names = database.prepare('SELECT hex(digest) AS name FROM spent_token').all();
  expect(names).toEqual(names.toSorted((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1)));
});
