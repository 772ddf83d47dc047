import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { makeSecondFactor, newSecret } from '#shared/people/second-factor/second-factor.ts';
import { hotp, stepAt } from '#shared/people/second-factor/totp.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { demandStore, withStores } from './with-stores.ts';

/** An empty data folder without a store. */
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
])('%s %s creates no store in a folder without one', async (...args) => {
  const { folder, shell } = await emptyData();
  shell.stdin = 'correct horse battery';
  const { code, stdout, stderr } = await inProcess(shell, ...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`there is no store at ${folder}: start the pair`);
  expect(await readdir(folder)).toEqual([]);
});

test('a folder that the user may not read is named as such, not as a missing store', async () => {
  const { folder, shell } = await emptyData();
  await chmod(folder, 0);
  const { store } = await loadConfig(shell.env);
  const user = process.geteuid?.();
  // Node sets the user of the whole process, so nothing else may run meanwhile.
  if (user === 0) process.seteuid?.(65_534);
  try {
    expect(() => demandStore({ store, data: folder } as Config)).toThrow(
      `cannot read ${folder}: EACCES; run the command as the user who runs the servers`,
    );
  } finally {
    if (user === 0) process.seteuid?.(0);
  }
});

test('--create creates the store, and the next command finds it', async () => {
  const { shell } = await emptyData();
  shell.stdin = 'correct horse battery';
  const added = await inProcess(shell, 'user', 'add', 'alice', '--password-stdin', '--create');
  expect([added.code, added.stderr]).toEqual([0, '']);
  expect(await json(shell, 'user', 'list')).toEqual([expect.objectContaining({ name: 'alice' })]);
});

describe('refused input creates no store', () => {
  test.each([
    ['user', 'add', 'al ice', '--password-stdin', '--create'],
    ['user', 'add', 'alice', '--display-name', '', '--create'],
    ['user', 'invite', 'al ice', '--create'],
    ['user', 'invite', 'alice', '--email', 'none', '--create'],
    ['client', 'add', '--name', 'a', '--grant', 'none', '--create'],
    ['client', 'add', '--name', 'a', '--grant', 'client_credentials', '--create'],
    ['key', 'add', '--application', 'a', '--realm', 'none', '--create'],
    ['key', 'add', '--application', 'a', '--concealed', '--public-key', '/nowhere', '--create'],
    ['cache', 'ban', 'http://localhost:3001/none/', '--path', '/a', '--create'],
    ['cache', 'purge', 'http://localhost:3001/none/', '--create'],
  ])('%s %s %s', async (...args) => {
    const { folder, shell } = await emptyData();
    shell.stdin = 'correct horse battery';
    const { code, stdout } = await inProcess(shell, ...args);
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(['add', 'passwd'])('even with a common password, user %s', async (command) => {
    const { folder, shell } = await emptyData();
    shell.stdin = 'superman';
    const args = ['user', command, 'alice', '--password-stdin', '--create'];
    expect((await inProcess(shell, ...args)).stderr).toContain('10,000 commonest');
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([
    ['no file', '/nowhere', 'cannot read'],
    ['another master secret', '', 'was sealed under another master secret'],
  ])('and no master secret, directory import: %s', async (_, path, reason) => {
    const file = path || (await exportWithSecondFactor());
    const { folder, shell } = await emptyData();
    const { code, stderr } = await inProcess(shell, 'directory', 'import', file);
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(await readdir(folder)).toEqual([]);
  });
});

/** A directory of another machine, with a person's second factor. */
async function exportWithSecondFactor(): Promise<string> {
  const shell = new TestShell(await newData());
  const { id } = (await json(shell, 'user', 'add', 'alice')) as { id: string };
  await withStores(shell, async (stores, config) => {
    const master = await readMasterSecret(config, shell.env);
    const secret = newSecret(shell.random);
    const parts = { stores, master, clock: shell.clock, random: shell.random };
    const code = hotp(secret, stepAt(shell.clock.now()));
    const factor = makeSecondFactor(parts, id, secret, code)?.factor;
    expect(factor && (await stores.secondFactors.add(factor))).toBe(true);
  });
  const file = join(await temporaryFolder(), 'second-factor.json');
  await json(shell, 'directory', 'export', file);
  return file;
}

test('an import creates the store', async () => {
  const exporting = new TestShell(await newData());
  const exported = join(await temporaryFolder(), 'people.json');
  expect((await inProcess(exporting, 'directory', 'export', exported)).code).toBe(0);
  const { shell } = await emptyData();
  expect((await inProcess(shell, 'directory', 'import', exported)).code).toBe(0);
  expect(await json(shell, 'user', 'list')).toEqual([]);
});

test('--create fails if no folder can be created', async () => {
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
