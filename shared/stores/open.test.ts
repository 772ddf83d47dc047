import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from './open.ts';
import { storeSettings } from './settings.ts';
import { StoreUnavailable } from './outage/unavailable.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-open-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const rest = { revocations: { lease: 2 }, tokens: { skew: 5 } };
const deps = {
  clock: new ManualClock(),
  random: systemRandom,
  log: silentLog,
  longestLife: 605,
};

test('the embedded store is opened in its data folder', async () => {
  const store = storeSettings.parse({ kind: 'sqlite' });
  const data = join(folder, 'deep', 'data');
  await using stores = await openStores({ store, data, ...rest }, deps);
  await stores.ping();
  expect(existsSync(join(data, 'state.db'))).toBe(true);
});

test('a data folder that cannot be made is StoreUnavailable', async () => {
  const data = join(folder, 'file');
  writeFileSync(data, '');
  await expect(openStores({ store: { kind: 'sqlite' }, data, ...rest }, deps)).rejects.toThrow(
    StoreUnavailable,
  );
});

test('a PostgreSQL that does not answer is StoreUnavailable, and no embedded store is made instead', async () => {
  const store = storeSettings.parse({
    kind: 'postgres',
    urls: ['postgres://nobody@127.0.0.1:1/nothing'],
  });
  await expect(openStores({ store, data: folder, ...rest }, deps)).rejects.toThrow(
    StoreUnavailable,
  );
  expect(existsSync(join(folder, 'state.db'))).toBe(false);
});
