import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/clock.ts';
import { systemRandom } from '#shared/random.ts';
import { type Content, ContentTooLarge, openContent } from './content.ts';

const AGE = 3600;
const clock = new ManualClock();
let folder: string;
let content: Content;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'countersign-content-')), 'space');
  content = await openContent({ folder, maxBytes: 10, random: systemRandom });
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

async function* pieces(...all: (string | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of all) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

/** A file last written `seconds` ago by the clock of the test. */
async function leave(name: string, seconds: number): Promise<void> {
  await writeFile(join(folder, name), 'x');
  const at = (clock.now() - seconds * 1000) / 1000;
  await utimes(join(folder, name), at, at);
}

const kept = async <T>(value: T) => ({ kept: true, value });

describe('adding', () => {
  test('the file is whole, private and under its name when the commit is asked', async () => {
    const file = await content.add(pieces('ab', 'c'), async (received) => {
      expect(await readdir(folder)).toEqual([received.file]);
      expect(await readFile(join(folder, received.file), 'utf8')).toBe('abc');
      expect(received.length).toBe(3);
      return kept(received.file);
    });
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('as long as allowed is kept; one byte more is too large and leaves nothing', async () => {
    await content.add(pieces('12345', '67890'), kept);
    const before = await readdir(folder);
    await expect(content.add(pieces('12345', '678901'), kept)).rejects.toThrow(ContentTooLarge);
    expect(await readdir(folder)).toEqual(before);
  });

  test('content that ends early leaves nothing and is never committed', async () => {
    let asked = false;
    const add = content.add(pieces('abc', new Error('gone')), async () => {
      asked = true;
      return kept(undefined);
    });
    await expect(add).rejects.toThrow('gone');
    expect(asked).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a commit that was lost removes the file', async () => {
    await content.add(pieces('abc'), async () => ({ kept: false, value: undefined }));
    expect(await readdir(folder)).toEqual([]);
  });

  test('a commit that failed may have happened: the file stays for the sweep', async () => {
    const add = content.add(pieces('abc'), () => Promise.reject(new Error('no answer')));
    await expect(add).rejects.toThrow('no answer');
    expect(await readdir(folder)).toHaveLength(1);
  });
});

test('opening: a file that is gone is undefined, removing it is no error', async () => {
  expect(await content.open('gone')).toBeUndefined();
  await content.remove('gone');
});

describe('the sweep', () => {
  const named =
    (...files: string[]) =>
    async () =>
      new Set(files);

  test('removes what nothing names once it is old, temporary files too', async () => {
    await leave('old', AGE);
    await leave('old.part', AGE + 1);
    await leave('young', AGE - 1);
    await leave('named', 10 * AGE);
    expect(await content.sweep(named('named'), clock, AGE)).toBe(2);
    expect((await readdir(folder)).toSorted()).toEqual(['named', 'young']);
  });

  test('keeps an upload in progress at any age, until it is committed', async () => {
    const far = new ManualClock(clock.now() * 2);
    const sweep = () => content.sweep(named(), far, 0);
    async function* slow() {
      yield Buffer.from('a');
      expect(await readdir(folder)).toHaveLength(1);
      expect(await sweep()).toBe(0);
      yield Buffer.from('b');
    }
    const file = await content.add(slow(), async (received) => {
      expect(await sweep()).toBe(0);
      return kept(received.file);
    });
    expect(await readFile(join(folder, file), 'utf8')).toBe('ab');
  });

  test('keeps an upload that is committed after it has read the rows', async () => {
    const far = new ManualClock(clock.now() * 2);
    const rows = Promise.withResolvers<ReadonlySet<string>>();
    let sweeping: Promise<number> | undefined;
    const file = await content.add(pieces('a'), async (received) => {
      const read = new Promise<void>((resolve) => {
        sweeping = content.sweep(() => (resolve(), rows.promise), far, 0);
      });
      await read;
      return kept(received.file);
    });
    rows.resolve(new Set());
    expect(await sweeping).toBe(0);
    expect(await readdir(folder)).toEqual([file]);
  });

  test('a file that is committed while it looks is among the rows it reads afterwards', async () => {
    await leave('racing', AGE);
    const rows = new Set<string>();
    const late = async () => rows.add('racing');
    expect(await content.sweep(late, clock, AGE)).toBe(0);
  });
});
