import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/log.ts';
import { openStores } from '#shared/stores/open.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../with-stores.ts';

const SPACE = '/documents';
const FOLDER = encodeURIComponent(SPACE);

const row = (path: string, file: string) => ({
  path,
  etag: file,
  type: 'text/plain',
  length: file.length,
  modified: 0,
  file,
});

/** A data folder with documents whose content is the name of their file. */
async function withDocuments(...names: readonly string[]) {
  const env = await newData();
  const shell = new TestShell(env);
  const content = join(env.COUNTERSIGN_DATA, 'content', FOLDER);
  await mkdir(content, { recursive: true });
  await withStores(shell, async ({ documents, revocations }) => {
    await revocations.epoch(true);
    for (const name of names) {
      await writeFile(join(content, `${name}.1`), `${name}.1`);
      await documents.put(SPACE, row(name, `${name}.1`), 'any');
    }
  });
  return { shell, content, target: join(env.COUNTERSIGN_DATA, '..', 'backup') };
}

test('the copy opens as a store, has every document that it names, and nothing that others may read', async () => {
  const { shell, content, target } = await withDocuments('a', 'b');
  await writeFile(join(content, 'unnamed'), 'left by a crash');
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, documents: 2 });
  expect((await readdir(target)).toSorted()).toEqual(['content', 'state.db']);
  expect((await readdir(join(target, 'content', FOLDER))).toSorted()).toEqual(['a.1', 'b.1']);
  expect((await stat(target)).mode & 0o777).toBe(0o700);
  expect((await stat(join(target, 'state.db'))).mode & 0o777).toBe(0o600);

  await using stores = await openStores(
    { store: { kind: 'sqlite' }, data: target },
    { clock: shell.clock, random: shell.random, log: silentLog, longestLife: 0 },
  );
  expect((await stores.documents.list(SPACE, '')).map(({ path }) => path)).toEqual(['a', 'b']);
  expect(await stores.revocations.epoch(false)).toBeUndefined();
});

test('documents that are replaced and removed meanwhile: whatever the copy names is there', async () => {
  const { shell, content, target } = await withDocuments('a', 'b', 'c');
  const stop = new AbortController();
  const writer = withStores(shell, async ({ documents }) => {
    for (let version = 2; !stop.signal.aborted; version += 1) {
      for (const name of ['a', 'b', 'c']) {
        const file = `${name}.${version}`;
        await writeFile(join(content, file), file);
        await documents.put(SPACE, row(name, file), 'any');
        await rm(join(content, `${name}.${version - 1}`));
      }
    }
  });
  const { code, stderr } = await inProcess(shell, 'backup', target);
  stop.abort();
  await writer;
  expect([code, stderr]).toEqual([0, '']);
  await using stores = await openStores(
    { store: { kind: 'sqlite' }, data: target },
    { clock: shell.clock, random: shell.random, log: silentLog, longestLife: 0 },
  );
  const rows = await stores.documents.list(SPACE, '');
  expect(rows).toHaveLength(3);
  for (const { file } of rows) {
    expect(await readFile(join(target, 'content', FOLDER, file), 'utf8')).toBe(file);
  }
});

test('content that never appears is a failure that leaves nothing behind', async () => {
  const { shell, target } = await withDocuments();
  await withStores(shell, async ({ documents }) => {
    await documents.put(SPACE, row('a', 'missing'), 'any');
  });
  const { code, stderr } = await inProcess(shell, 'backup', target);
  expect([code, stderr]).toEqual([1, expect.stringContaining('faster than they can be copied')]);
  await expect(readdir(target)).rejects.toThrow(/ENOENT/);
});

test('a folder that is not empty is refused and stays as it is', async () => {
  const { shell, target } = await withDocuments('a');
  await mkdir(target);
  await writeFile(join(target, 'state.db'), 'mine');
  expect((await inProcess(shell, 'backup', target)).code).toBe(1);
  expect(await readFile(join(target, 'state.db'), 'utf8')).toBe('mine');
});

test('Redis: its own tools are named', async () => {
  const shell = new TestShell({ COUNTERSIGN_REDIS_URL: 'redis://localhost:1' });
  const { code, stderr } = await inProcess(shell, 'backup', '/nowhere/backup');
  expect([code, stderr]).toEqual([1, expect.stringContaining('BGSAVE')]);
});
