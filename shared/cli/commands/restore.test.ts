import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { loadConfig } from '#shared/config/load.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { addressAlias } from '#shared/people/names/aliases.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { checkCode, makeSecondFactor } from '#shared/people/second-factor/second-factor.ts';
import { hotp, PERIOD, stepAt } from '#shared/people/second-factor/totp.ts';
import {
  edit,
  everybodyIn,
  FAR,
  puts,
  someDocument,
  someOutboxMessage,
  somePasskey,
  somePerson,
} from '#shared/stores/contract/samples.ts';
import { holdAlone, swapIn } from '#shared/stores/sqlite/backup/restore.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { entryFile } from '../../../e2e/parts/entry.ts';
import { inProcess, json, newData, runScript, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const TREE = '/documents';
const FOLDER = folderOf(TREE);

const namesIn = (shell: TestShell) =>
  withStores(shell, async (stores) => (await everybodyIn(stores)).map(({ name }) => name));

/** A backup with Alice and a document, and a store where Bob came later and a token was revoked and one spent. */
async function withBackup() {
  const { COUNTERSIGN_DATA: data } = await newData();
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  const content = join(data, 'content', FOLDER);
  await mkdir(content, { recursive: true });
  await writeFile(join(content, 'a.1'), 'then');
  const epoch = await withStores(shell, async (stores) => {
    await stores.people.add(somePerson('alice'), []);
    await edit(stores, TREE, puts(someDocument('a', { file: 'a.1' })));
    return stores.revocations.epoch(true);
  });
  const backup = join(data, '..', 'backup');
  await json(shell, 'backup', backup);
  await writeFile(join(content, 'b.1'), 'now');
  await withStores(shell, async (stores) => {
    await stores.people.add(somePerson('bob'), []);
    await edit(stores, TREE, puts(someDocument('b', { file: 'b.1' })));
    await stores.revocations.revoke('token', 'jti', FAR);
  });
  return { shell, data, backup, epoch };
}

async function refusal(shell: TestShell, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await inProcess(shell, 'restore', ...args);
  expect(code).toBe(1);
  return stderr;
}

test('people and documents are back in an empty folder, for its owner only, and the backup stays', async () => {
  const { backup, data } = await withBackup();
  const elsewhere = join(data, '..', 'elsewhere');
  const shell = new TestShell({ COUNTERSIGN_DATA: elsewhere });
  expect(await json(shell, 'restore', backup)).toEqual({
    folder: backup,
    data: elsewhere,
    files: 1,
  });
  expect((await readdir(elsewhere)).toSorted()).toEqual(['content', 'state.db', 'transient.db']);
  expect((await stat(elsewhere)).mode & 0o777).toBe(0o700);
  expect((await stat(join(elsewhere, 'state.db'))).mode & 0o777).toBe(0o600);
  expect((await readdir(backup)).toSorted()).toEqual(['SHA256SUMS', 'content', 'state.db']);
  expect(await namesIn(shell)).toEqual(['alice']);
  expect(await readFile(join(elsewhere, 'content', FOLDER, 'a.1'), 'utf8')).toBe('then');
});

test('--replace moves the former store aside whole, and a new epoch refuses what was revoked since', async () => {
  const { shell, data, backup, epoch } = await withBackup();
  expect(await refusal(shell, backup)).toContain('--replace');
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);

  const { replaced } = (await json(shell, 'restore', backup, '--replace')) as { replaced: string };
  expect(replaced.startsWith(join(data, 'replaced-'))).toBe(true);
  expect(await readdir(join(data, 'content', FOLDER))).toEqual(['a.1']);
  await withStores(shell, async (stores) => {
    expect((await everybodyIn(stores)).map(({ name }) => name)).toEqual(['alice']);
    expect((await stores.trees.below(TREE, '', 9)).map(({ path }) => path)).toEqual(['a']);
    expect(await stores.revocations.epoch(false)).toBeUndefined();
    expect(await stores.revocations.epoch(true)).not.toBe(epoch);
  });
  expect((await readdir(join(replaced, 'content', FOLDER))).toSorted()).toEqual(['a.1', 'b.1']);
  const former = new TestShell({ COUNTERSIGN_DATA: replaced });
  expect(await namesIn(former)).toEqual(['alice', 'bob']);
});

test('the ways in of a person are as they were, used recovery codes are good again, and no link is', async () => {
  const { COUNTERSIGN_DATA: data } = await newData();
  const shell = new TestShell({ COUNTERSIGN_DATA: data, COUNTERSIGN_SECRET: 's'.repeat(32) });
  const { clock, random } = shell;
  const master = await readMasterSecret(await loadConfig(shell.env), shell.env);
  const address = 'alice@example.com';
  const alice = {
    ...somePerson('alice'),
    profile: {
      emails: [
        { address, verified: true },
        { address: 'other@example.com', verified: false },
      ],
    },
    aliases: [addressAlias(address)],
  };
  const secret = random(20);
  const code = () => hotp(secret, stepAt(clock.now()));
  const made = makeSecondFactor({ master, clock, random }, alice.id, secret, code());
  if (made === undefined) throw new Error('it is no code of now');
  const passkey = { ...somePasskey('laptop'), accountId: alice.id };
  const message = someOutboxMessage('waiting');
  const use = (counter: number) => ({ counter, backedUp: true, at: clock.now() });
  const backup = join(data, '..', 'backup');
  const links: string[] = [];
  await withStores(shell, async (stores) => {
    await stores.people.add(alice, []);
    await stores.secondFactors.add(made.factor);
    await stores.passkeys.add(passkey, 1);
    await stores.outbox.add(message);
    const oneTime = createRecoveryLinks({ stores, random });
    links.push(await oneTime.make({ person: alice.id, purpose: 'invitation', byMail: true }));
    links.push(await oneTime.make({ person: alice.id, purpose: 'recovery' }));
  });
  await json(shell, 'backup', backup);

  clock.advance(2 * PERIOD);
  const lately = code();
  await withStores(shell, async (stores) => {
    const used = async (typed: string) => {
      const checked = await checkCode({ stores, master, clock }, alice.id, typed);
      return typeof checked === 'string' ? checked : await checked.use();
    };
    expect(await used(lately)).toEqual({});
    expect(await used(made.codes[0] ?? '')).toEqual({ left: 9 });
    expect(await stores.passkeys.use(passkey.id, use(9))).toBe('used');
    await stores.passkeys.remove(alice.id, passkey.id, 0);
    await stores.outbox.remove(message.id);
    await stores.people.replace({ ...alice, profile: {}, aliases: [] });
    await stores.revocations.raise('person', alice.id, FAR);
    expect(await createRecoveryLinks({ stores, random }).find(links[1] ?? '')).toBeUndefined();
  });

  await json(shell, 'restore', backup, '--replace');
  await withStores(shell, async (stores) => {
    // A server that starts gives the store its epoch.
    await stores.revocations.epoch(true);
    const { people, passkeys, secondFactors, outbox } = stores;
    expect(await people.getByAlias(addressAlias(address))).toEqual(alice);
    expect(await secondFactors.get(alice.id)).toEqual(made.factor);
    for (const typed of [lately, made.codes[0] ?? '']) {
      const checked = await checkCode({ stores, master, clock }, alice.id, typed);
      expect(checked).toMatchObject({ id: made.factor.id });
    }
    expect(await passkeys.of(alice.id)).toEqual([passkey]);
    expect(await passkeys.use(passkey.id, use(8))).toBe('used');
    expect(await outbox.take(message.created_at, message.until, 9)).toMatchObject([message]);
    for (const link of links) {
      expect(await createRecoveryLinks({ stores, random }).find(link)).toBeUndefined();
    }
  });
});

/** Opens the file as a server does, and stays. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA journal_mode = WAL; SELECT count(*) FROM sqlite_schema');
  console.log('open');
  process.stdin.resume();
`;

test.each(['state.db', 'transient.db'])(
  'a store whose %s another process has open is refused, though that does nothing',
  async (file) => {
    const { shell, data, backup } = await withBackup();
    const holder = spawn(process.execPath, ['-e', HOLDER, join(data, file)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    expect(await refusal(shell, backup, '--replace')).toContain('stop all servers first');
    const ended = once(holder, 'exit');
    holder.stdin.end();
    await ended;
    expect(await namesIn(shell)).toEqual(['alice', 'bob']);
    expect((await inProcess(shell, 'restore', backup, '--replace')).code).toBe(0);
  },
);

test('one of two restores at once into an empty folder is refused', async () => {
  const { backup, data } = await withBackup();
  const elsewhere = join(data, '..', 'elsewhere');
  await mkdir(elsewhere);
  const shell = new TestShell({ COUNTERSIGN_DATA: elsewhere });
  {
    using other = holdAlone(elsewhere);
    expect(other).toBeDefined();
    expect(await refusal(shell, backup)).toContain('or restores it');
  }
  expect(await json(shell, 'restore', backup)).toMatchObject({ files: 1 });
  expect(await namesIn(shell)).toEqual(['alice']);
});

test('content that is a mount of its own is refused before anything is changed', async () => {
  const { shell, backup, data } = await withBackup();
  const script = 'mount --bind "$1" "$1" && shift && exec "$@"';
  const command = [process.execPath, entryFile('shared/cli/main.ts'), 'restore', backup];
  const child = spawn(
    'unshare',
    ['-rm', 'sh', '-c', script, 'sh', join(data, 'content'), ...command, '--replace'],
    { env: { ...process.env, COUNTERSIGN_DATA: data }, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  expect(await text(child.stderr)).toContain('it may be a mount of its own');
  expect(await readdir(data)).not.toContain('restoring');
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);
  expect((await inProcess(shell, 'restore', backup, '--replace')).code).toBe(0);
});

test('each content file and its folders are on the disk before the swap', async () => {
  const { backup, data } = await withBackup();
  const elsewhere = join(data, '..', 'elsewhere');
  const trace = join(data, '..', 'trace.json');
  const flags = ['--trace-event-categories', 'node.fs.async', '--trace-event-file-pattern', trace];
  const command = [...flags, entryFile('shared/cli/main.ts'), 'restore', backup];
  const { code } = await runScript(command, { ...process.env, COUNTERSIGN_DATA: elsewhere });
  expect(code).toBe(0);
  const { traceEvents } = JSON.parse(await readFile(trace, 'utf8')) as {
    traceEvents: readonly { readonly name: string; readonly ph: string }[];
  };
  // The file, the folder of its tree, and the folder of all content.
  expect(traceEvents.filter(({ name, ph }) => name === 'fsync' && ph === 'b')).toHaveLength(3);
});

test.each([
  ['/proc/x', 'cannot make the folder /proc/x: ENOENT'],
  ['/proc', 'cannot restore to /proc: ENOENT'],
])('a data folder that cannot be made or written is an error: %s', async (data, said) => {
  const { backup } = await withBackup();
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  expect(await refusal(shell, backup)).toContain(said);
});

test('a folder that is no backup is refused, and the store stays as it is', async () => {
  const { shell, data, backup } = await withBackup();
  const other = join(data, '..', 'other');
  await mkdir(other);
  expect(await refusal(shell, other, '--replace')).toContain('it has no state.db');
  await writeFile(join(other, 'state.db'), 'no database, though it has the name of one');
  expect(await refusal(shell, other, '--replace')).toContain('not a database');
  await cp(backup, other, { recursive: true });
  await rm(join(other, 'content', FOLDER, 'a.1'));
  expect(await refusal(shell, other, '--replace')).toContain(`${FOLDER}/a.1 is missing`);
  // As backups of older releases: they have no digests.
  await rm(join(other, 'SHA256SUMS'));
  expect(await refusal(shell, other, '--replace')).toContain('it lacks 1 content file');
  await rm(join(other, 'content'), { recursive: true });
  expect(await refusal(shell, other, '--replace')).toContain('it lacks 1 content file');
  {
    using newer = new DatabaseSync(join(other, 'state.db'));
    newer.exec('PRAGMA user_version = 9999; UPDATE schema SET oldest = 9999');
  }
  expect(await refusal(shell, other, '--replace')).toContain('made by a newer release');
  await cp(data, other, { recursive: true });
  expect(await refusal(shell, other, '--replace')).toContain('a store that servers have used');
  expect(await refusal(shell, data, '--replace')).toContain('the data folder itself');
  expect(await readdir(data)).not.toContain('restoring');
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);
});

test('a restore that was interrupted opens as no store, and is finished by another', async () => {
  const { shell, data, backup } = await withBackup();
  const staged = join(data, 'restoring');
  const aside = join(data, 'replaced-then');
  // Each of the two is missing once: the swap ends before it.
  for (const missing of ['content', 'state.db']) {
    await cp(backup, staged, { recursive: true });
    await rename(join(staged, missing), join(staged, 'away'));
    if (missing === 'state.db') {
      // It is read before the swap.
      await mkdir(join(staged, missing));
      await mkdir(join(staged, 'content'), { recursive: true });
    }
    expect(() => swapIn(data, staged, aside)).toThrow();
    await expect(namesIn(shell)).rejects.toThrow('not a database');
    await rm(join(staged, 'away'), { recursive: true });
  }
  expect(await json(shell, 'restore', backup)).toMatchObject({ replaced: aside });
  expect(await namesIn(shell)).toEqual(['alice']);
  expect(await readdir(join(data, 'content', FOLDER))).toEqual(['a.1']);
  expect((await readdir(join(aside, 'content', FOLDER))).toSorted()).toEqual(['a.1', 'b.1']);
  expect(await namesIn(new TestShell({ COUNTERSIGN_DATA: aside }))).toEqual(['alice', 'bob']);
});

test('a store that is damaged can be replaced', async () => {
  const { shell, data, backup } = await withBackup();
  await writeFile(join(data, 'state.db'), 'damaged');
  expect(await refusal(shell, backup)).toContain('--replace');
  expect((await inProcess(shell, 'restore', backup, '--replace')).code).toBe(0);
  expect(await namesIn(shell)).toEqual(['alice']);
});

test('Redis: its own tools are named', async () => {
  const shell = new TestShell({ COUNTERSIGN_REDIS_URL: 'redis://localhost:1' });
  expect(await refusal(shell, '/nowhere/backup')).toContain("Redis's own tools");
});
