import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { rowsIn } from '#shared/stores/backup/rows-in.fixture.ts';
import {
  edit,
  everybodyIn,
  FAR,
  puts,
  putWith,
  someApiKey,
  someClient,
  someDocument,
  someKey,
  someOutboxMessage,
  somePasskey,
  somePerson,
  somePublicKey,
  someSecondFactor,
  someTokenKey,
  someVerifier,
} from '#shared/stores/contract/samples.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { type Postgres, psql, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { inProcess, json, TestShell, unusedData } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

let postgres: Postgres;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** A shell for a new database without a store. */
async function postgresShell(): Promise<TestShell & { readonly data: string }> {
  count += 1;
  await postgres.sql(`CREATE DATABASE test_${count}`);
  const data = await temporaryFolder();
  const url = new URL(postgres.url);
  url.pathname = `/test_${count}`;
  const shell = new TestShell({ COUNTERSIGN_DATA: data, COUNTERSIGN_POSTGRES_URL: String(url) });
  return Object.assign(shell, { data });
}

const TREE = '/Documents';
/** Lengths below and above the limit for content in rows, for SQLite and PostgreSQL. */
const LENGTHS = [0, 10, 16_384, 16_385, 65_536, 65_537, 300_000, 1_500_000];
const octets = (length: number) => Buffer.alloc(length, `${length} `);

/** A SQLite store with every kind of content, and its backup. */
async function fromLaptop() {
  const { COUNTERSIGN_DATA: data } = await unusedData();
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  const content = join(data, 'content', folderOf(TREE));
  await mkdir(content, { recursive: true });
  await withStores(shell, async (stores) => {
    await stores.revocations.epoch(true);
    await stores.people.add(somePerson('alice'), [someVerifier('realm')]);
    await stores.clients.add(someClient('batch'));
    await stores.apiKeys.add(someApiKey('k'));
    await stores.publicKeys.add(somePublicKey('laptop'), 1);
    await stores.passkeys.add(somePasskey('laptop'), 1);
    await stores.secondFactors.add(someSecondFactor('alice'));
    await stores.outbox.add(someOutboxMessage('waits'));
    await stores.keys.add(someKey('k1', 'ES256'));
    await stores.tokenKeys.add(someTokenKey(VOPRF, 7), undefined);
    await stores.spentTokens.spend(Buffer.from('spent'), FAR);
    await stores.revocations.revoke('token', 'jti', FAR);
    await stores.recorded('people', '{"kind":"test"}').add(somePerson('bob'), []);
    for (const length of LENGTHS) {
      const file = `f${length}`;
      if (length > stores.trees.longestContent) {
        await writeFile(join(content, file), octets(length));
        await edit(stores, TREE, puts(someDocument(file, { file, length })));
      } else await edit(stores, TREE, [putWith(file, octets(length), { file })]);
    }
  });
  const backup = join(await temporaryFolder(), 'backup');
  await json(shell, 'backup', backup);
  return backup;
}

/** The content of all documents from rows and files, and the lengths of files. */
async function documentsIn(shell: TestShell, data: string) {
  return withStores(shell, async (stores) => {
    const files: number[] = [];
    for (const length of LENGTHS) {
      const row = await stores.trees.content(TREE, `f${length}`);
      const path = join(data, 'content', folderOf(TREE), `f${length}`);
      if (row === undefined) files.push(length);
      const bytes = row ?? (await readFile(path));
      expect([length, bytes.equals(octets(length))]).toEqual([length, true]);
    }
    return files;
  });
}

/** The whole record without content and without the time of the last backup. */
function recordIn(backup: string) {
  const rows = new Map(rowsIn(join(backup, 'state.db')));
  rows.delete('content');
  rows.delete('last_backup');
  return rows;
}

test('a store moves from SQLite to PostgreSQL and back unchanged, with content in its usual place', async () => {
  const backup = await fromLaptop();
  const shell = await postgresShell();
  expect(await json(shell, 'restore', backup)).toEqual({
    folder: backup,
    data: shell.data,
    files: 5,
  });
  expect((await readdir(shell.data)).toSorted()).toEqual(['content']);
  expect(await documentsIn(shell, shell.data)).toEqual([65_537, 300_000, 1_500_000]);
  expect(await readdir(join(shell.data, 'content', folderOf(TREE)))).toHaveLength(3);
  await withStores(shell, async (stores) => {
    expect(await stores.revocations.epoch(false)).toBeUndefined();
    expect(await stores.people.getByName('alice')).toMatchObject({ name: 'alice' });
  });

  const second = `${backup} of PostgreSQL`;
  expect(await json(shell, 'backup', second)).toEqual({ folder: second, files: 3 });
  expect(await json(shell, 'backup', 'check', second)).toEqual({ folder: second, files: 4 });
  expect(recordIn(second)).toEqual(recordIn(backup));

  const { COUNTERSIGN_DATA: back } = await unusedData();
  const laptop = new TestShell({ COUNTERSIGN_DATA: back });
  expect(await json(laptop, 'restore', second, '--replace')).toMatchObject({ files: 5 });
  expect(await documentsIn(laptop, back)).toEqual([16_385, 65_536, 65_537, 300_000, 1_500_000]);
  laptop.clock.advance(60);
  await withStores(laptop, async ({ proofs }) => {
    const once = { made: 0, seconds: 60 };
    expect(await proofs.spend('dpop', 'used on PostgreSQL', once)).toBe('forgotten');
  });
  const third = `${backup} of SQLite`;
  await json(laptop, 'backup', third);
  expect(recordIn(third)).toEqual(recordIn(backup));
  const content = (folder: string) => rowsIn(join(folder, 'state.db')).get('content');
  expect(content(third)).toEqual(content(backup));
});

test('a PostgreSQL store is replaced only if it is named; its former state stays complete under another name', async () => {
  const backup = await fromLaptop();
  const shell = await postgresShell();
  await json(shell, 'restore', backup);
  const folder = join(shell.data, 'content', folderOf(TREE));
  await writeFile(join(folder, 'later'), 'later');
  await withStores(shell, async (stores) => {
    await stores.people.add(somePerson('carol'), []);
    await edit(stores, TREE, puts(someDocument('later', { file: 'later', length: 5 })));
  });
  const record = 'SELECT id FROM countersign.record';
  const id = await psql(shell.env['COUNTERSIGN_POSTGRES_URL'] ?? '', record);
  const refused = await inProcess(shell, 'restore', backup);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('there is a store in the schema countersign already. With --replace'),
  ]);
  const restored = (await json(shell, 'restore', backup, '--replace')) as { replaced: string };
  expect(restored.replaced).toMatch(/^countersign_\d{17}$/);
  expect(await psql(shell.env['COUNTERSIGN_POSTGRES_URL'] ?? '', record)).toBe(id);
  const names = () =>
    withStores(shell, async (stores) => (await everybodyIn(stores)).map(({ name }) => name));
  expect(await names()).toEqual(['alice', 'bob']);
  const found = await readdir(shell.data);
  const kept = found.find((name) => name.startsWith('replaced-')) ?? '';
  expect(await readFile(join(shell.data, kept, 'content', folderOf(TREE), 'later'), 'utf8')).toBe(
    'later',
  );
  await rm(folder, { recursive: true });
  const file = join(shell.data, 'former.json');
  const urls = [shell.env['COUNTERSIGN_POSTGRES_URL']];
  await writeFile(
    file,
    JSON.stringify({ store: { kind: 'postgres', urls, schema: restored.replaced } }),
  );
  const former = new TestShell({ COUNTERSIGN_CONFIG: file, COUNTERSIGN_DATA: shell.data });
  await withStores(former, async (stores) => {
    expect((await everybodyIn(stores)).map(({ name }) => name)).toEqual(['alice', 'bob', 'carol']);
  });
});

test('a store that was only opened, as by `config check --store`, needs no --replace', async () => {
  const backup = await fromLaptop();
  const shell = await postgresShell();
  expect((await inProcess(shell, 'config', 'check', '--store')).stdout).toContain(
    'No server has used it yet',
  );
  const restored = await json(shell, 'restore', backup);
  expect(restored).not.toHaveProperty('replaced');
  const { stdout } = await inProcess(shell, 'config', 'check', '--store');
  expect(stdout).toContain('The store answers: PostgreSQL (schema countersign)');
  await withStores(shell, async (stores) => {
    expect(await stores.people.getByName('alice')).toMatchObject({ name: 'alice' });
  });
});

test('a damaged backup, a backup of a newer version and an open store change nothing', async () => {
  const backup = await fromLaptop();
  const shell = await postgresShell();
  await json(shell, 'restore', backup);
  const refusal = async (...args: readonly string[]) => {
    const { code, stderr } = await inProcess(shell, 'restore', ...args);
    expect(code).toBe(1);
    return stderr;
  };
  await withStores(shell, async (stores) => {
    await stores.people.add(somePerson('carol'), []);
    expect(await refusal(backup, '--replace')).toMatch(
      /the store is open elsewhere \(in PostgreSQL: processes \d+(?:, \d+)* of 127\.0\.0\.1\): stop/,
    );
    expect(await refusal('--database')).toContain('the store is open elsewhere');
  });
  expect(await refusal(backup, '--database')).toContain('not both');
  expect(await refusal()).toContain('name the FOLDER');
  const path = join(backup, 'state.db');
  const whole = await readFile(path);
  const middle = Buffer.from(whole);
  middle.fill(0xff, 8192, 16_384);
  for (const damaged of [middle, whole.subarray(0, 20_000), Buffer.from('no database')]) {
    await writeFile(path, damaged);
    expect(await refusal(backup, '--replace')).toContain('state.db was changed');
    expect(await refusal(backup, '--replace', '--unchecked')).toContain('cannot');
  }
  await withStores(shell, async (stores) => {
    expect((await everybodyIn(stores)).map(({ name }) => name)).toEqual(['alice', 'bob', 'carol']);
  });
  expect((await readdir(shell.data)).toSorted()).toEqual(['content']);
});

test('if PostgreSQL dies during a restore, the former store stays; during the commit, the command says that both are possible', async () => {
  const backup = await fromLaptop();
  const shell = await postgresShell();
  const url = shell.env['COUNTERSIGN_POSTGRES_URL'] ?? '';
  await json(shell, 'restore', backup);
  await withStores(shell, (stores) => stores.people.add(somePerson('carol'), []));
  const restoring = async (waits: string) => {
    const going = inProcess(shell, 'restore', backup, '--replace');
    const waiting = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type || ' ' || wait_event ~ '${waits}'`;
    await until(async () => (await postgres.sql(waiting)) === '1');
    await postgres.kill();
    const { code, stderr } = await going;
    await postgres.start();
    const names = await withStores(shell, async (stores) =>
      (await everybodyIn(stores)).map(({ name }) => name),
    );
    return { code, stderr, names };
  };

  const other = new Client(url);
  other.on('error', () => {});
  await other.connect();
  await other.query('BEGIN; LOCK TABLE countersign.record');
  expect(await restoring('^Lock')).toEqual({
    code: 1,
    stderr: expect.stringMatching(/PostgreSQL at 127\.0\.0\.1:\d+ has ended the connection/),
    names: ['alice', 'bob', 'carol'],
  });

  await postgres.sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await postgres.sql('SELECT pg_reload_conf()');
  // For the next start of the server.
  await postgres.sql('ALTER SYSTEM RESET synchronous_standby_names');
  expect(await restoring('SyncRep$')).toEqual({
    code: 1,
    stderr: expect.stringContaining('PostgreSQL may have done it all the same'),
    names: ['alice', 'bob'],
  });
  // Within the same second.
  shell.clock.advance(0.001);
  expect(await json(shell, 'restore', backup, '--replace')).toMatchObject({ files: 5 });
  expect(await documentsIn(shell, shell.data)).toEqual([65_537, 300_000, 1_500_000]);
});

test('--database revokes all tokens of the store, once', async () => {
  const shell = await postgresShell();
  expect((await inProcess(shell, 'restore', '--database')).code).toBe(1);
  const backup = await fromLaptop();
  await json(shell, 'restore', backup);
  const epoch = await withStores(shell, (stores) => stores.revocations.epoch(true));
  expect(await json(shell, 'restore', '--database')).toEqual({ schema: 'countersign' });
  await withStores(shell, async (stores) => {
    expect(await stores.revocations.epoch(true)).not.toBe(epoch);
  });
});

test('a command in a schema without a store refuses and creates none; with --create it creates one', async () => {
  const shell = await postgresShell();
  const { code, stderr } = await inProcess(shell, 'user', 'list');
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('there is no store in the schema countersign of PostgreSQL'),
  ]);
  const schemas = `SELECT count(*) FROM pg_namespace WHERE nspname = 'countersign'`;
  expect(await psql(shell.env['COUNTERSIGN_POSTGRES_URL'] ?? '', schemas)).toBe('0');
  expect(await json(shell, 'user', 'list', '--create')).toEqual([]);
  expect(await json(shell, 'user', 'list')).toEqual([]);
});
