/** @slow */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { edit, putWith, someDocument, somePerson } from '../contract/samples.ts';
import type { Stores } from '../stores.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../sqlite/under-test.ts';
import { openBackupThreads } from './backup-threads.ts';
import { checkBackup } from './check.ts';
import { makeScheduled } from './scheduled.ts';

const HOUR = 3600;

let store: SqliteUnderTest;
let stores: Stores;
let folder: string;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  folder = join(store.folder, 'backups');
  await stores.people.add(somePerson('alice'), []);
  await edit(stores, '/documents', [
    putWith('short', Buffer.from('short'), { file: 'short' }),
    { kind: 'put', entry: someDocument('long', { file: 'long', length: 100_000 }) },
  ]);
  const content = join(store.spec().data, 'content', '%2Fdocuments');
  mkdirSync(content, { recursive: true });
  writeFileSync(join(content, 'long'), 'x'.repeat(100_000));
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

async function run(keep = 2) {
  await using threads = openBackupThreads({ kind: 'sqlite' });
  const settings = { folder, every: HOUR, keep };
  const { clock } = store;
  const { data } = store.spec();
  return await makeScheduled({ ...threads, data, settings, clock });
}

const ARGUMENTS = ['--disable-warning=ExperimentalWarning'];
const PROCESS = join(import.meta.dirname, 'scheduled-process.fixture.ts');

/**
 * Runs the backup in a separate process. Resolves to its result, or why it ended. `blocks`: the limit of each file, in
 * blocks of 512 octets.
 */
async function elsewhere(killAt = '', blocks = 'unlimited'): Promise<unknown> {
  const limited = ['-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath, ...ARGUMENTS];
  const given = [PROCESS, store.spec().data, folder, String(store.clock.now()), killAt];
  const ended = await promisify(execFile)('sh', [...limited, ...given]).catch((error) => error);
  return ended.signal ?? JSON.parse(ended.stdout);
}

/** The names in the folder, without the lock. */
const names = () => readdirSync(folder).filter((name) => !name.startsWith('lock.db'));

test('one backup is made in each period and read back, only its owner can read it, and the oldest backups are removed', async () => {
  const made = [];
  for (let hour = 0; hour < 4; hour += 1) {
    made.push(await run());
    expect(await run()).toBeUndefined();
    store.clock.advance(HOUR);
  }
  expect(made.map((one) => one?.removed)).toEqual([0, 0, 1, 1]);
  expect(made.map((one) => one?.files)).toEqual([1, 1, 1, 1]);
  expect(names()).toHaveLength(2);
  for (const name of names()) {
    expect(name).toMatch(/^countersign-\d{8}T\d\d0000Z$/);
    const backup = join(folder, name);
    expect([made.map((one) => one?.folder), statSync(backup).mode & 0o777]).toEqual([
      expect.arrayContaining([backup]),
      0o700,
    ]);
    expect(checkBackup(backup)).toEqual([]);
  }
});

test('the schedule removes only its own backups, and no symbolic links', async () => {
  mkdirSync(join(folder, 'countersign-mine'), { recursive: true });
  symlinkSync(store.folder, join(folder, 'countersign-19700101T000000Z'));
  for (let hour = 0; hour < 3; hour += 1) {
    await run(1);
    store.clock.advance(HOUR);
  }
  expect(names()).toHaveLength(3);
  expect(names()).toEqual(
    expect.arrayContaining(['countersign-mine', 'countersign-19700101T000000Z']),
  );
  expect(readdirSync(store.folder)).not.toEqual([]);
});

test('a backup with a date in the future is not removed, and it removes no new backup', async () => {
  const ahead = 'countersign-20991231T230000Z';
  mkdirSync(join(folder, ahead), { recursive: true });
  for (let hour = 0; hour < 2; hour += 1) {
    const made = await run(1);
    expect(await run(1)).toBeUndefined();
    expect(names().toSorted()).toEqual([basename(made?.folder ?? ''), ahead]);
    store.clock.advance(HOUR);
  }
});

test('no other user can hold the lock, and a symbolic link in place of its file is an error', async () => {
  mkdirSync(folder, { mode: 0o755 });
  const lock = join(folder, 'lock.db');
  writeFileSync(lock, '', { mode: 0o644 });
  await run();
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  rmSync(lock);
  const target = join(store.folder, 'elsewhere');
  symlinkSync(target, lock);
  store.clock.advance(HOUR);
  await expect(run()).rejects.toThrow('ELOOP');
  expect(existsSync(target)).toBe(false);
});

test('two processes that start a backup at the same time make one', async () => {
  const made = await Promise.all(Array.from({ length: 4 }, () => elsewhere()));
  expect(made.filter((one) => one !== null)).toEqual([
    { folder: expect.stringContaining('countersign-'), files: 1, removed: 0 },
  ]);
  expect(names()).toHaveLength(1);
});

describe.each(['copyState', 'writeSums', 'check'])('killed after %s', (step) => {
  test('no incomplete copy has the name of a backup, and the next run makes a complete one', async () => {
    expect(await elsewhere(step)).toBe('SIGKILL');
    expect(names()).toEqual(['countersign-partial']);
    expect(checkBackup(join(folder, 'countersign-partial'))).toEqual(
      step === 'copyState' ? [expect.stringContaining('there is no SHA256SUMS')] : [],
    );
    const made = await run();
    expect(names()).toHaveLength(1);
    expect(checkBackup(made?.folder ?? '')).toEqual([]);
  });
});

test('a full disk is an error that leaves nothing and removes no older backup', async () => {
  const before = await run(1);
  store.clock.advance(HOUR);
  expect(await elsewhere('', '100')).toMatch(/StoreUnavailable|EFBIG|full/);
  expect(names().map((name) => join(folder, name))).toEqual([before?.folder]);
  expect(await elsewhere()).toMatchObject({ files: 1 });
});

test('a document without content is reported, and a backup without it replaces no older backup', async () => {
  const before = await run(1);
  store.clock.advance(HOUR);
  rmSync(join(store.spec().data, 'content', '%2Fdocuments', 'long'));
  await expect(run(1)).rejects.toThrow(
    'the document /documents/long is damaged: content/%2Fdocuments/long is missing',
  );
  expect(names().map((name) => join(folder, name))).toEqual([before?.folder]);
});

test('a document whose content differs from the last backup is reported until its file is restored', async () => {
  const before = await run();
  const file = join(store.spec().data, 'content', '%2Fdocuments', 'long');
  store.clock.advance(HOUR);
  writeFileSync(file, 'y'.repeat(100_000));
  await expect(run()).rejects.toThrow(
    `the document /documents/long is damaged: content/%2Fdocuments/long was another in ${before?.folder}`,
  );
  copyFileSync(join(before?.folder ?? '', 'content', '%2Fdocuments', 'long'), file);
  expect(await run()).toMatchObject({ files: 1 });
  // A damaged list of digests in the previous backup does not stop the next backup.
  store.clock.advance(HOUR);
  for (const name of names()) writeFileSync(join(folder, name, 'SHA256SUMS'), 'x\n');
  expect(await run()).toMatchObject({ files: 1 });
});

test('a copy that cannot be read back is an error, and is removed', async () => {
  await using threads = openBackupThreads({ kind: 'sqlite' });
  const settings = { folder, every: HOUR, keep: 1 };
  const { clock } = store;
  const parts = { ...threads, data: store.spec().data, settings, clock };
  const damaging = {
    ...parts,
    async writeSums(to: string) {
      await threads.writeSums(to);
      writeFileSync(join(to, 'content', '%2Fdocuments', 'long'), 'damaged');
    },
  };
  await expect(makeScheduled(damaging)).rejects.toThrow('content/%2Fdocuments/long was changed');
  expect(names()).toEqual([]);
});

test('a missing store and a folder that cannot be made are errors', async () => {
  await using threads = openBackupThreads({ kind: 'sqlite' });
  const settings = { folder, every: HOUR, keep: 1 };
  const parts = { ...threads, settings, clock: store.clock };
  const gone = join(store.folder, 'gone');
  await expect(makeScheduled({ ...parts, data: gone })).rejects.toThrow('no such file');
  const unwritable = { ...parts, settings: { ...settings, folder: '/proc/x' }, data: gone };
  await expect(makeScheduled(unwritable)).rejects.toThrow('ENOENT');
  expect(names()).toEqual([]);
});
