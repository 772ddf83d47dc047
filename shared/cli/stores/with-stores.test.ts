import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

/** A data folder without a store, empty. */
async function emptyData() {
  const folder = await mkdtemp(join(await temporaryFolder(), 'data-'));
  return { folder, shell: new TestShell({ COUNTERSIGN_DATA: folder }) };
}

test.each([
  ['user', 'list'],
  ['user', 'add', 'alice', '--password-stdin'],
  ['user', 'key', 'list', 'alice'],
  ['client', 'list'],
  ['client', 'add', '--name', 'a', '--grant', 'client_credentials', '--scope', 'documents:read'],
  ['key', 'list'],
  ['signing-keys', 'list'],
  ['private-token', 'keys'],
  ['cache', 'bans'],
  ['revocation', 'status'],
  ['directory', 'export', 'x.json'],
  ['backup', 'no-such-folder'],
])('%s %s makes no store in a folder without one', async (...args) => {
  const { folder, shell } = await emptyData();
  shell.stdin = 'correct horse battery';
  const { code, stdout, stderr } = await inProcess(shell, ...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`there is no store at ${folder}: start the pair`);
  expect(await readdir(folder)).toEqual([]);
});

test('--create makes the store, and the next command finds it', async () => {
  const { shell } = await emptyData();
  shell.stdin = 'correct horse battery';
  const added = await inProcess(shell, 'user', 'add', 'alice', '--password-stdin', '--create');
  expect([added.code, added.stderr]).toEqual([0, '']);
  expect(await json(shell, 'user', 'list')).toEqual([expect.objectContaining({ name: 'alice' })]);
});

test('an import makes the store by itself', async () => {
  const exporting = new TestShell(await newData());
  const exported = join(await temporaryFolder(), 'people.json');
  expect((await inProcess(exporting, 'directory', 'export', exported)).code).toBe(0);
  const { shell } = await emptyData();
  expect((await inProcess(shell, 'directory', 'import', exported)).code).toBe(0);
  expect(await json(shell, 'user', 'list')).toEqual([]);
});

test('--create ends where no folder can be made', async () => {
  const shell = new TestShell({ COUNTERSIGN_DATA: '/proc/x' });
  const { code, stderr } = await inProcess(shell, 'user', 'list', '--create');
  expect([code, stderr]).toEqual([1, expect.stringContaining("mkdir '/proc/x'")]);
});

test('a data folder that is a file has no store', async () => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  const { code, stderr } = await inProcess(
    new TestShell({ COUNTERSIGN_DATA: file }),
    'user',
    'list',
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is no store at')]);
});
