import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { SqliteFile } from './file.ts';

const MIB = 1024 * 1024;
const SCHEMA = {
  file: 'some.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: ['CREATE TABLE a (x)'],
  expired: {},
} as const;

async function opened() {
  const path = join(await temporaryFolder(), SCHEMA.file);
  const clock = new ManualClock();
  return { path, clock, open: () => new SqliteFile(path, SCHEMA, clock) };
}

test('the reserved room of the WAL is made as soon as the WAL was emptied, not only at the next write', async () => {
  const { path, clock, open } = await opened();
  await using file = open();
  for (let n = 0; n < 3; n += 1) {
    await file.write((sql) => sql.run('INSERT INTO a VALUES (zeroblob(?))', n * 8 * MIB));
    await file.checkpoint();
    expect(statSync(`${path}-wal`).size).toBe(4 * MIB);
    clock.advance(2);
  }
});

test('a reserve that a killed process left incomplete is completed', async () => {
  const { path, open } = await opened();
  await open()[Symbol.asyncDispose]();
  truncateSync(`${path}.reserve`, 64 * 1024);
  await using _ = open();
  expect(statSync(`${path}.reserve`).size).toBe(5 * MIB);
});
