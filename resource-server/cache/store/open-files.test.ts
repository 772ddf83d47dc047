import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { OpenFiles } from './open-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  for (const name of ['a', 'b', 'c']) writeFileSync(path(name), name);
});

const path = (name: string) => join(folder, name);
const text = (name: string, files: OpenFiles) =>
  files.read(path(name)).then(async ({ file, end }) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
    end();
    return buffer.toString('utf8', 0, bytesRead);
  });

/** Resolves when the system reports `count` open files of the folder. */
async function openAre(count: number): Promise<void> {
  const targetOf = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  const open = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).startsWith(folder));
  while (open().length !== count) await turn();
}

test('a recently read file stays open, even if it was deleted, until it is forgotten', async () => {
  const files = new OpenFiles(2);
  expect(await text('a', files)).toBe('a');
  await rm(path('a'));
  expect(await text('a', files)).toBe('a');
  files.forget(path('a'));
  await expect(files.read(path('a'))).rejects.toThrow('ENOENT');
  await openAre(0);
});

test('a limited number of files stays open, the most recently read, and no file after clear', async () => {
  const files = new OpenFiles(2);
  for (const name of ['a', 'b', 'a', 'c']) await text(name, files);
  await openAre(2);
  for (const name of ['a', 'b', 'c']) await rm(path(name));
  expect(await text('a', files)).toBe('a');
  expect(await text('c', files)).toBe('c');
  await expect(files.read(path('b'))).rejects.toThrow('ENOENT');
  files.clear();
  await openAre(0);
});

test('a file stays open until each of its readers has ended', async () => {
  const files = new OpenFiles(1);
  const [one, other] = await Promise.all([files.read(path('a')), files.read(path('a'))]);
  await text('b', files);
  files.clear();
  one.end();
  expect((await other.file.read(Buffer.alloc(1), 0, 1, 0)).buffer.toString()).toBe('a');
  other.end();
  await openAre(0);
});
