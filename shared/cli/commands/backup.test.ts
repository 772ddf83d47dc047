import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import {
  copy,
  edit,
  puts,
  putWith,
  someCollection,
  someDocument,
} from '#shared/stores/contract/samples.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const TREE = '/documents';
const FOLDER = folderOf(TREE);

/** Puts a document with this content file. */
const put = (stores: Stores, tree: string, path: string, file: string) =>
  edit(stores, tree, puts(someDocument(path, { file })));

/** A data folder with documents, each with the name of its file as content. */
async function withDocuments(...names: readonly string[]) {
  const env = await newData();
  const shell = new TestShell(env);
  const content = join(env.COUNTERSIGN_DATA, 'content', FOLDER);
  await mkdir(content, { recursive: true });
  await withStores(shell, async (stores) => {
    await stores.revocations.epoch(true);
    for (const name of names) {
      await writeFile(join(content, `${name}.1`), `${name}.1`);
      await put(stores, TREE, name, `${name}.1`);
    }
  });
  return { shell, content, target: join(env.COUNTERSIGN_DATA, '..', 'backup') };
}

test('the copy opens as a store, has the content of each document, and is private', async () => {
  const { shell, content, target } = await withDocuments('a', 'b');
  await writeFile(join(content, 'unnamed'), 'left by a crash');
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, files: 2 });
  expect((await readdir(target)).toSorted()).toEqual(['SHA256SUMS', 'content', 'state.db']);
  expect((await readdir(join(target, 'content', FOLDER))).toSorted()).toEqual(['a.1', 'b.1']);
  expect((await stat(target)).mode & 0o777).toBe(0o700);
  expect((await stat(join(target, 'state.db'))).mode & 0o777).toBe(0o600);

  await using stores = await openStores(
    { store: { kind: 'sqlite' }, data: target, revocations: { lease: 0.2 }, tokens: { skew: 5 } },
    { clock: shell.clock, random: shell.random, log: silentLog },
  );
  const documents = await stores.trees.below(TREE, '', 9);
  expect(documents.map(({ path }) => path)).toEqual(['a', 'b']);
  expect(await stores.revocations.epoch(false)).toBeUndefined();
});

test('the content of every tree is copied, once if resources share it', async () => {
  const { shell, content, target } = await withDocuments('a');
  const own = '/dav?person=Alice%2Fx';
  const folder = join(content, '..', folderOf(own));
  await mkdir(folder);
  await writeFile(join(folder, 'mine'), 'mine');
  await withStores(shell, async (stores) => {
    await put(stores, own, 'x', 'mine');
    await edit(stores, own, [copy('x', 'y', { deep: false })]);
  });
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, files: 2 });
  const copied = join(target, 'content', folderOf(own), 'mine');
  expect(await readFile(copied, 'utf8')).toBe('mine');
});

test('short content is copied with the state, even for a tree without a folder', async () => {
  const { shell, target } = await withDocuments('a');
  const bytes = Buffer.from('short');
  await withStores(shell, async (stores) => {
    for (const tree of [TREE, '/short']) {
      await edit(stores, tree, [putWith('x', bytes, { file: 'x.1' })]);
    }
  });
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, files: 1 });
  expect(await readdir(join(target, 'content', FOLDER))).toEqual(['a.1']);
  await using stores = await openStores(
    { store: { kind: 'sqlite' }, data: target, revocations: { lease: 0.2 }, tokens: { skew: 5 } },
    { clock: shell.clock, random: shell.random, log: silentLog },
  );
  for (const tree of [TREE, '/short']) {
    expect(await stores.trees.content(tree, 'x.1')).toEqual(bytes);
  }
});

/** Milliseconds between versions. Memory is faster than a disk, so the test waits. */
const PAUSE = 30;

test('a backup has all content that its copy of the store names, even if documents are replaced and deleted meanwhile', async () => {
  const { shell, content, target } = await withDocuments('a', 'b', 'c');
  const stop = new AbortController();
  const writer = withStores(shell, async (stores) => {
    for (let version = 2; !stop.signal.aborted; version += 1) {
      for (const name of ['a', 'b', 'c']) {
        const file = `${name}.${version}`;
        await writeFile(join(content, file), file);
        await put(stores, TREE, name, file);
        await rm(join(content, `${name}.${version - 1}`));
      }
      await setTimeout(PAUSE);
    }
  });
  const { code, stderr } = await inProcess(shell, 'backup', target);
  stop.abort();
  await writer;
  expect([code, stderr]).toEqual([0, '']);
  await using stores = await openStores(
    { store: { kind: 'sqlite' }, data: target, revocations: { lease: 0.2 }, tokens: { skew: 5 } },
    { clock: shell.clock, random: shell.random, log: silentLog },
  );
  const files = await stores.trees.files(TREE);
  expect(files.size).toBe(3);
  for (const file of files) {
    expect(await readFile(join(target, 'content', FOLDER, file), 'utf8')).toBe(file);
  }
});

test('a folder that is no tree is skipped, and a linked tree makes the backup fail', async () => {
  const { shell, content, target } = await withDocuments('a');
  const outside = join(content, '..', '..', 'outside');
  for (const path of [outside, join(content, '..', '%ff')]) {
    await mkdir(path);
    await writeFile(join(path, 'mine'), 'mine');
  }
  await symlink(outside, join(content, '..', folderOf('/linked')));
  await writeFile(join(content, '..', 'file'), 'x');
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, files: 1 });
  expect(await readdir(join(target, 'content'))).toEqual([FOLDER]);
  await withStores(shell, (stores) => put(stores, '/linked', 'x', 'mine'));
  const linked = await inProcess(shell, 'backup', `${target} 2`);
  expect([linked.code, linked.stderr]).toEqual([
    1,
    expect.stringContaining('%2Flinked is no folder'),
  ]);
  await expect(readdir(`${target} 2`)).rejects.toThrow(/ENOENT/);
});

test('documents with lost or truncated content are named, and no backup is left', async () => {
  const { shell, content, target } = await withDocuments('a', 'whole');
  await withStores(shell, async (stores) => {
    await edit(stores, TREE, puts(someCollection('c')));
    await put(stores, TREE, 'c/lost', 'lost');
    await edit(stores, TREE, [copy('a', 'c/copy')]);
  });
  await writeFile(join(content, 'a.1'), 'a');
  const { code, stderr } = await inProcess(shell, 'backup', target);
  const cut = `content/${FOLDER}/a.1 has 1 bytes, not 3`;
  const mistakes = [
    `the document ${TREE}/a is damaged: ${cut}`,
    `the document ${TREE}/c/copy is damaged: ${cut}`,
    `the document ${TREE}/c/lost is damaged: content/${FOLDER}/lost is missing`,
  ];
  expect([code, stderr.split('\n').slice(0, 4)]).toEqual([
    1,
    ['the copy is not whole:', ...mistakes],
  ]);
  expect(stderr).toContain('--unchecked');
  await expect(readdir(target)).rejects.toThrow(/ENOENT/);

  const unchecked = await json(shell, 'backup', target, '--unchecked');
  expect(unchecked).toEqual({ folder: target, files: 2, mistakes });
  expect((await inProcess(shell, 'server', 'status')).stdout).toContain('Backups are not set up');
  expect((await inProcess(shell, 'backup', 'check', target)).stderr).toContain(mistakes[2]);
  await rm(target, { recursive: true });
  const remove = (path: string) => ({ kind: 'remove', path }) as const;
  await withStores(shell, (stores) => edit(stores, TREE, ['a', 'c'].map(remove)));
  expect(await json(shell, 'backup', target)).toEqual({ folder: target, files: 1 });
});

test('content that differs from the last scheduled backup is named', async () => {
  const { shell, content, target } = await withDocuments('a');
  const file = join(target, '..', 'backup.json');
  const schedule = join(target, '..', 'schedule');
  await writeFile(file, JSON.stringify({ backup: { folder: schedule } }));
  shell.env['COUNTERSIGN_CONFIG'] = file;
  await mkdir(schedule);
  const last = join(schedule, 'countersign-20260101T000000Z');
  await json(shell, 'backup', last);
  await writeFile(join(content, 'a.1'), 'b.1');
  expect((await inProcess(shell, 'backup', target)).stderr).toContain(
    `the document ${TREE}/a is damaged: content/${FOLDER}/a.1 was another in ${last}`,
  );
});

test('a folder that cannot be created is an error', async () => {
  const { shell } = await withDocuments('a');
  const { code, stderr } = await inProcess(shell, 'backup', '/proc/x');
  expect([code, stderr]).toEqual([
    1,
    'cannot make the folder /proc/x: ENOENT; choose another folder\n',
  ]);
});

test('a folder that is not empty is refused and unchanged', async () => {
  const { shell, target } = await withDocuments('a');
  await mkdir(target);
  await writeFile(join(target, 'state.db'), 'mine');
  expect((await inProcess(shell, 'backup', target)).code).toBe(1);
  expect(await readFile(join(target, 'state.db'), 'utf8')).toBe('mine');
});

test('backup check says that a backup is complete, or names its faults', async () => {
  const { shell, target } = await withDocuments('a');
  await json(shell, 'backup', target);
  expect(await json(shell, 'backup', 'check', target)).toEqual({ folder: target, files: 2 });
  await writeFile(join(target, 'content', FOLDER, 'a.1'), 'a.2');
  const changed = await inProcess(shell, 'backup', 'check', target);
  expect([changed.code, changed.stderr]).toEqual([
    1,
    `${target} cannot be trusted:\ncontent/${FOLDER}/a.1 was changed\n`,
  ]);
  const nowhere = await inProcess(shell, 'backup', 'check', '/nowhere');
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('is no backup')]);
});

test('the status shows the last successful backup: none, by the command, recorded, and overdue', async () => {
  const { shell, content, target } = await withDocuments('a');
  const lines = async () => (await inProcess(shell, 'server', 'status')).stdout;
  const known = (at: number) => `good backup is of ${new Date(at).toISOString().slice(0, 16)}Z, `;
  await withStores(shell, (stores) => put(stores, TREE, 'lost', 'lost'));
  expect((await inProcess(shell, 'backup', target)).code).toBe(1);
  expect(await lines()).toContain('Backups are not set up');
  await writeFile(join(content, 'lost'), 'lost');
  await json(shell, 'backup', target);
  expect(await lines()).toContain(known(shell.clock.now()));
  shell.clock.advance(86_400);
  const recorded = shell.clock.now();
  expect(await json(shell, 'backup', 'record')).toEqual({ at: recorded });
  const file = join(target, '..', 'backup.json');
  await writeFile(file, JSON.stringify({ backup: { folder: target, every: 3600 } }));
  shell.env['COUNTERSIGN_CONFIG'] = file;
  expect(await lines()).not.toContain('overdue');
  shell.clock.advance(7200);
  expect(await lines()).toContain(known(recorded));
  expect(await lines()).toContain('A backup is overdue');
  // A clock a year ahead makes the backup overdue.
  const ahead = shell.clock.now() + 31_536_000_000;
  await withStores(shell, (stores) => stores.lastBackup.note(ahead));
  expect(await lines()).toContain('A backup is overdue');
});
