import { execFile as executed, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
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
import {
  beginRestore,
  endRestore,
  holdAlone,
  swapIn,
} from '#shared/stores/sqlite/backup/restore.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { entryFile } from '../../../e2e/parts/entry.ts';
import { until } from '../../../e2e/parts/process.ts';
import { inProcess, json, newData, runScript, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const TREE = '/documents';
const FOLDER = folderOf(TREE);
const CONTENT = join('content', FOLDER, 'a.1');
const execFile = promisify(executed);

const namesIn = (shell: TestShell) =>
  withStores(shell, async (stores) => (await everybodyIn(stores)).map(({ name }) => name));

/**
 * A backup with Alice and a document, and a store with later changes: Bob, a revoked token and a spent
 * token.
 */
async function withBackup() {
  const { COUNTERSIGN_DATA: data } = await newData();
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  const content = join(data, 'content', FOLDER);
  await mkdir(content, { recursive: true });
  await writeFile(join(content, 'a.1'), 'then');
  const epoch = await withStores(shell, async (stores) => {
    await stores.people.add(somePerson('alice'), []);
    await edit(stores, TREE, puts(someDocument('a', { file: 'a.1', length: 4 })));
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

test('people and documents are back in an empty folder, for its owner only, and the backup is unchanged', async () => {
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

test('--replace moves the whole former store aside, and a new epoch refuses tokens revoked since', async () => {
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

test("a person's credentials are as before, used recovery codes are valid again, and no link is", async () => {
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
    // The first server gives the store its epoch.
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

/** A process that opens the file as a server does, and stays. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('PRAGMA journal_mode = WAL; SELECT count(*) FROM sqlite_schema');
  console.log('open');
  process.stdin.resume();
`;

test.each(['state.db', 'transient.db'])(
  'a store whose %s another process has open is refused, even if that process is idle',
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

test('a process that opens the store at the start of a restore waits, and then asks to try again', async () => {
  const { shell, data, backup } = await withBackup();
  const staged = join(data, 'restoring');
  await cp(backup, staged, { recursive: true });
  const held = holdAlone(data);
  const command = [entryFile('shared/cli/main.ts'), 'user', 'list'];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, COUNTERSIGN_DATA: data },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const files = `/proc/${child.pid}/fd`;
  await until(async () => {
    const paths = (await readdir(files)).map((file) => readlink(join(files, file)).catch(String));
    return (await Promise.all(paths)).includes(join(data, 'state.db'));
  });
  beginRestore(data, join(data, 'replaced'));
  swapIn(data, staged, join(data, 'replaced'));
  endRestore(data);
  held?.[Symbol.dispose]();
  expect(await text(child.stderr)).toContain('the store was restored meanwhile: try again');
  expect(await namesIn(shell)).toEqual(['alice']);
});

test('a restored store refuses proofs made before the restore, because used proofs are forgotten', async () => {
  const { backup, data } = await withBackup();
  const shell = new TestShell({ COUNTERSIGN_DATA: join(data, '..', 'elsewhere') });
  const proof = (made: number) => ({ made, seconds: 60 });
  const before = shell.clock.now();
  const use = (made: number) =>
    withStores(shell, async ({ proofs, useCounts }) => [
      await proofs.spend('dpop', `${made}`, proof(made)),
      await useCounts.use('digest', `${made}`, 1, proof(made)),
    ]);
  await json(shell, 'restore', backup);
  await expect(use(before)).rejects.toThrow('the store was just restored');
  shell.clock.advance(60);
  expect(await use(before)).toEqual(['forgotten', 'forgotten']);
  const after = shell.clock.now();
  expect(await use(after)).toEqual(['first', 'first']);
  expect(await use(after)).toEqual(['used', 'used']);
});

test('content on a separate mount is refused before any change', async () => {
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

test('each content file and its folders are synced to the disk before the swap', async () => {
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
  // The state, the file, the tree's folder, and the folder of all content.
  expect(traceEvents.filter(({ name, ph }) => name === 'fsync' && ph === 'b')).toHaveLength(4);
});

test.each([
  ['/proc/x', 'cannot make the folder /proc/x: ENOENT'],
  ['/proc', 'cannot restore to /proc: ENOENT'],
])('a data folder that cannot be created or written is an error: %s', async (data, said) => {
  const { backup } = await withBackup();
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  expect(await refusal(shell, backup)).toContain(said);
});

test('a folder that is no backup is refused, and the store is unchanged', async () => {
  const { shell, data, backup } = await withBackup();
  const other = join(data, '..', 'other');
  await mkdir(other);
  expect(await refusal(shell, other, '--replace')).toContain('it has no state.db');
  await writeFile(join(other, 'state.db'), 'no database, though it has the name of one');
  expect(await refusal(shell, other, '--replace')).toContain('there is no SHA256SUMS');
  expect(await refusal(shell, other, '--replace', '--unchecked')).toContain('not a database');
  await cp(backup, other, { recursive: true });
  await rm(join(other, 'content', FOLDER, 'a.1'));
  expect(await refusal(shell, other, '--replace')).toContain(`${FOLDER}/a.1 is missing`);
  await rm(join(other, 'SHA256SUMS'));
  expect(await refusal(shell, other, '--replace')).toContain('there is no SHA256SUMS');
  const unchecked = ['--replace', '--unchecked'];
  await rm(join(other, 'content'), { recursive: true });
  {
    using newer = new DatabaseSync(join(other, 'state.db'));
    newer.exec('PRAGMA user_version = 9999; UPDATE schema SET oldest = 9999');
  }
  expect(await refusal(shell, other, ...unchecked)).toContain('made by a newer release');
  await cp(data, other, { recursive: true });
  expect(await refusal(shell, other, ...unchecked)).toContain('a store that servers have used');
  expect(await refusal(shell, data, '--replace')).toContain('the data folder itself');
  expect(await readdir(data)).not.toContain('restoring');
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);
});

const STATES_OF = new URL('restore-states.fixture.ts', import.meta.url).href;
const REFUSED =
  '`countersign restore` is at work here or was interrupted: wait for it, or run it again';

/** The data folder before each step of a restore, by the name of the step. */
async function statesOf(data: string, backup: string): Promise<ReadonlyMap<string, string>> {
  const states = await temporaryFolder();
  const command = [entryFile('shared/cli/main.ts'), 'restore', backup, '--replace'];
  const copying = `${STATES_OF}?${String(new URLSearchParams({ data, states }))}`;
  const env = { ...process.env, COUNTERSIGN_DATA: data };
  const { code, stderr } = await runScript(['--import', copying, ...command], env);
  expect([code, stderr]).toEqual([0, '']);
  const different = new Map<string, string>();
  for (const name of (await readdir(states)).toSorted()) {
    const state = join(states, name, basename(data));
    const files = (await readdir(state, { recursive: true })).toSorted();
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(state, file))).size),
    );
    different.set(JSON.stringify([files, sizes]), name);
  }
  return new Map([...different.values()].map((name) => [name, join(states, name, basename(data))]));
}

const isBegun = async (data: string) => (await readdir(data)).includes('state.db.restoring');

test.each([
  ['an empty folder', async () => join(await temporaryFolder(), 'data')],
  ['a former store', async (data: string) => data],
])(
  'if a restore into %s is killed at any step, the store cannot be opened until the next restore finishes',
  async (_, into) => {
    const { data: former, backup } = await withBackup();
    const data = await into(former);
    const people = data === former ? ['alice', 'bob'] : [];
    await mkdir(data, { recursive: true });
    const begun: string[] = [];
    for (const [step, state] of await statesOf(data, backup)) {
      const shell = new TestShell({ COUNTERSIGN_DATA: state });
      if (await isBegun(state)) {
        begun.push(step);
        await expect(namesIn(shell)).rejects.toThrow(REFUSED);
        const { stderr } = await inProcess(shell, 'user', 'list');
        expect([step, stderr]).toEqual([step, expect.stringContaining(REFUSED)]);
      } else if (begun.length > 0) {
        expect([step, await namesIn(shell)]).toEqual([step, ['alice']]);
        continue;
      } else if (data === former) expect(await namesIn(shell)).toEqual(people);
      else expect(await readdir(state)).not.toContain('state.db');
      const { replaced } = (await json(shell, 'restore', backup, '--replace')) as {
        replaced?: string;
      };
      expect([step, await namesIn(shell)]).toEqual([step, ['alice']]);
      expect(await readdir(join(state, 'content', FOLDER))).toEqual(['a.1']);
      const kept = (await readdir(state)).filter((name) => name.startsWith('replaced-'));
      if (data !== former) expect([step, replaced, kept]).toEqual([step, undefined, []]);
      else {
        expect([step, kept]).toEqual([step, [basename(replaced ?? '')]]);
        const aside = new TestShell({ COUNTERSIGN_DATA: replaced });
        expect(await namesIn(aside)).toEqual(people);
        expect(await readdir(join(replaced ?? '', 'content', FOLDER))).toEqual(['a.1', 'b.1']);
      }
    }
    // Each copied file and each move is a step.
    expect(begun.length).toBeGreaterThan(data === former ? 15 : 10);
  },
);

test('a restore that fails before its first move leaves the store unchanged, even after an interruption', async () => {
  const { shell, data, backup } = await withBackup();
  beginRestore(data, join(data, 'replaced-then'));
  await expect(namesIn(shell)).rejects.toThrow(REFUSED);
  const damaged = join(data, '..', 'damaged');
  await cp(backup, damaged, { recursive: true });
  await writeFile(join(damaged, 'content', FOLDER, 'a.1'), 'then?');
  expect(await refusal(shell, damaged)).toContain('a.1 was changed');
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);
  expect(await readdir(data)).not.toContain('restoring');
});

test('a restore that fails after its first move stays unfinished', async () => {
  const { shell, data, backup } = await withBackup();
  const aside = join(data, 'replaced-then');
  beginRestore(data, aside);
  const staged = join(data, 'restoring');
  await mkdir(staged);
  await writeFile(join(staged, 'state.db'), '');
  expect(() => swapIn(data, staged, aside)).toThrow('ENOENT');
  expect(await refusal(shell, join(data, '..', 'no'))).toContain('it has no state.db');
  const empty = join(data, '..', 'empty');
  await mkdir(empty);
  await writeFile(join(empty, 'state.db'), '');
  expect(await refusal(shell, empty)).toContain('there is no SHA256SUMS');
  await expect(namesIn(shell)).rejects.toThrow(REFUSED);
  expect(await json(shell, 'restore', backup)).toMatchObject({ replaced: aside });
  expect(await namesIn(shell)).toEqual(['alice']);
});

test('--unchecked restores the remaining parts of a backup, and a backup without digests', async () => {
  const { shell, data, backup } = await withBackup();
  await writeFile(join(backup, 'content', FOLDER, 'a.1'), 'left');
  expect(await refusal(shell, backup, '--replace')).toContain('add --unchecked');
  expect(await json(shell, 'restore', backup, '--replace', '--unchecked')).toMatchObject({
    files: 1,
    mistakes: [`content/${FOLDER}/a.1 was changed`],
  });
  await rm(join(backup, 'SHA256SUMS'));
  expect(await refusal(shell, backup, '--replace')).toContain('add --unchecked');
  await json(shell, 'restore', backup, '--replace', '--unchecked');
  expect(await readFile(join(data, 'content', FOLDER, 'a.1'), 'utf8')).toBe('left');
});

test('--unchecked restores a backup without some content, and names the file', async () => {
  const { shell, backup } = await withBackup();
  await rm(join(backup, 'content'), { recursive: true });
  expect(await json(shell, 'restore', backup, '--replace', '--unchecked')).toMatchObject({
    files: 0,
    missing: 1,
    mistakes: [`content/${FOLDER}/a.1 is missing`],
  });
  expect(await namesIn(shell)).toEqual(['alice']);
});

test('--unchecked counts the documents without content, even if the backup has no record', async () => {
  const { shell, backup } = await withBackup();
  for (const file of ['content', 'SHA256SUMS']) await rm(join(backup, file), { recursive: true });
  const { stdout } = await inProcess(shell, 'restore', backup, '--replace', '--unchecked');
  expect(stdout).toContain('\nDocuments lack 1 content file.\n');
});

/**
 * Irregular files in place of content, of its folders or of the state. Most lead to a file outside of the
 * backup.
 */
const IRREGULAR: readonly (readonly [
  what: string,
  put: (backup: string, secret: string) => Promise<unknown>,
  said: string,
])[] = [
  ['a link', async (backup, secret) => symlink(secret, join(backup, CONTENT)), 'regular file'],
  [
    'a link to nothing',
    async (backup) => symlink('nothing', join(backup, CONTENT)),
    'regular file',
  ],
  ['a pipe', async (backup) => execFile('mkfifo', [join(backup, CONTENT)]), 'regular file'],
  ['a device', async (backup) => symlink('/dev/zero', join(backup, CONTENT)), 'regular file'],
  ['a folder', async (backup) => mkdir(join(backup, CONTENT)), 'regular file'],
  [
    'a link to a folder with such a file',
    async (backup, secret) => {
      await rm(join(backup, 'content', FOLDER), { recursive: true });
      await symlink(dirname(secret), join(backup, 'content', FOLDER));
    },
    'no folder',
  ],
  [
    'a link to a folder with such a folder',
    async (backup, secret) => {
      await rm(join(backup, 'content'), { recursive: true });
      await symlink(dirname(dirname(secret)), join(backup, 'content'));
    },
    'no folder',
  ],
  [
    'a link to a state',
    async (backup) => {
      await writeFile(join(backup, CONTENT), 'then');
      await rename(join(backup, 'state.db'), join(backup, '..', 'state.db'));
      await symlink('../state.db', join(backup, 'state.db'));
    },
    'regular file',
  ],
  [
    'a row with a name that leads out',
    async (backup) => {
      using database = new DatabaseSync(join(backup, 'state.db'));
      database.exec(`UPDATE resource SET file = '../../../outside/%2Fdocuments/a.1'`);
    },
    'names content by',
  ],
  [
    'a row with a tree that leads out',
    async (backup) => {
      using database = new DatabaseSync(join(backup, 'state.db'));
      database.exec(`UPDATE resource SET tree = '..'`);
    },
    'names content by',
  ],
];
test.each(IRREGULAR)('%s in a backup is refused, checked or not', async (_, put, said) => {
  const { shell, data, backup } = await withBackup();
  const secret = join(data, '..', 'outside', FOLDER, 'a.1');
  await mkdir(dirname(secret), { recursive: true });
  await writeFile(secret, 'secret');
  await rm(join(backup, CONTENT));
  await put(backup, secret);
  expect((await inProcess(shell, 'backup', 'check', backup)).code).toBe(1);
  expect(await refusal(shell, backup, '--replace')).toContain('cannot be trusted');
  await rm(join(backup, 'SHA256SUMS'));
  expect(await refusal(shell, backup, '--replace', '--unchecked')).toContain(said);
  expect(await namesIn(shell)).toEqual(['alice', 'bob']);
  expect(await readdir(data)).not.toContain('restoring');
});

test('restored content is private, whatever its mode in the backup, and other links to a file keep their own', async () => {
  const { shell, data, backup } = await withBackup();
  linkSync(join(backup, CONTENT), join(data, '..', 'older-backup'));
  await chmod(join(backup, CONTENT), 0o644);
  await json(shell, 'restore', backup, '--replace');
  const { mode, nlink } = await stat(join(data, CONTENT));
  expect([mode & 0o777, nlink]).toEqual([0o600, 1]);
});

test('a damaged store can be replaced', async () => {
  const { shell, data, backup } = await withBackup();
  await writeFile(join(data, 'state.db'), 'damaged');
  expect(await refusal(shell, backup)).toContain('--replace');
  expect((await inProcess(shell, 'restore', backup, '--replace')).code).toBe(0);
  expect(await namesIn(shell)).toEqual(['alice']);
});
