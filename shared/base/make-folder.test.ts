import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { makeFolder } from './make-folder.ts';
import { temporaryFolder } from './temporary.fixture.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('makeFolder makes a folder and its missing parents, accessible only to their owner', async () => {
  expect(makeFolder(join(folder, 'a/b/c/'))).toBe(join(folder, 'a'));
  expect(await modeOf(join(folder, 'a'))).toBe(0o700);
  expect(await modeOf(join(folder, 'a/b/c'))).toBe(0o700);
});

test('makeFolder uses a given mode', async () => {
  makeFolder(join(folder, 'a'), 0o750);
  expect(await modeOf(join(folder, 'a'))).toBe(0o750);
});

test('makeFolder accepts a path relative to the working directory', async () => {
  makeFolder(relative(process.cwd(), join(folder, 'a/b')));
  expect(await readdir(join(folder, 'a'))).toEqual(['b']);
});

test('makeFolder leaves an existing folder as it is, even behind a link', async () => {
  await mkdir(join(folder, 'a'), { mode: 0o755 });
  await symlink(join(folder, 'a'), join(folder, 'link'));
  expect(['a', 'link', '..'].map((name) => makeFolder(join(folder, name)))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await modeOf(join(folder, 'a'))).toBe(0o755);
});

test.each(['/proc/x', '/proc/x/y', '/proc/self/x/y'])(
  'a folder below /proc is an error, not a wait without end: %s',
  (path) => {
    expect(() => makeFolder(path)).toThrow(/^E[A-Z]+: .*mkdir '\/proc\//);
  },
);

test.each([
  ['in the place of a file', 'file', 'EEXIST'],
  ['below a file', 'file/a/b', 'EEXIST'],
  ['in the place of a link to nothing', 'link', 'EEXIST'],
  ['below a link to nothing', 'link/a', 'EEXIST'],
  ['with a name that is too long', `a/${'n'.repeat(300)}/b`, 'ENAMETOOLONG'],
])('makeFolder throws for a folder %s', async (_, path, code) => {
  await writeFile(join(folder, 'file'), '');
  await symlink(join(folder, 'nothing'), join(folder, 'link'));
  expect(() => makeFolder(join(folder, path))).toThrow(expect.objectContaining({ code }));
});

test('makeFolder throws for a folder without a name', () => {
  expect(() => makeFolder('')).toThrow('ENOENT');
});
