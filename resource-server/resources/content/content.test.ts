import { execFileSync } from 'node:child_process';
import {
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { wholeOf } from '../../answers/pieces.ts';
import { type Content, type ContentOptions, type ContentRows, openContent } from './content.ts';
import { ContentDisk } from './content-disk.ts';
import { DamagedContent } from './content-errors.ts';
import { ContentMemory } from './content-memory.ts';
import { createFolderSync } from './folder-sync.ts';
import { ReadBuffers } from '../../answers/read-buffers.ts';
import type { Received } from './resource-store.ts';
import { Uploads } from './uploads.ts';

const AGE = 3600;
/** A quarter of it, 75,000 bytes, is the limit of one content. */
const MEMORY = 300_000;
const clock = new ManualClock();
let outer: string;
let folder: string;
let content: Content;

/** The rows of a store that keeps no content. */
const NO_ROWS: ContentRows = { longest: -1, read: () => Promise.reject(new Error('no rows')) };

const waiting = new Map<string, Buffer>();

const open = (changes: Partial<ContentOptions> = {}) =>
  openContent({
    folder,
    holder: 'alice',
    maxBytes: 10,
    uploads: new Uploads(10),
    rows: NO_ROWS,
    received: waiting,
    memory: new ContentMemory(MEMORY),
    buffers: new ReadBuffers(),
    files: new ContentDisk(folder, silentLog, clock),
    sync: createFolderSync(),
    clock,
    random: systemRandom,
    ...changes,
  });

beforeEach(async () => {
  outer = await mkdtemp(join(tmpdir(), 'countersign-content-'));
  folder = join(outer, 'content', 'tree');
  content = open();
});
afterEach(() => rm(outer, { recursive: true }));

async function* pieces(...all: (string | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of all) {
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

const named = async (received: Received) => received;

/** Creates the folder by adding and removing content. */
const begin = async () => content.remove((await content.add(pieces('x'), named)).file);

/** Writes a file that was last changed `seconds` ago by the test's clock. */
async function leave(name: string, seconds: number): Promise<void> {
  await writeFile(join(folder, name), 'x');
  const at = (clock.now() - seconds * 1000) / 1000;
  await utimes(join(folder, name), at, at);
}

describe('adding', () => {
  test('the file is complete, private and has its name when the commit is called', async () => {
    expect(await readdir(outer)).toEqual([]);
    const { file } = await content.add(pieces('ab', 'c'), async (received) => {
      expect(await readdir(folder)).toEqual([received.file]);
      expect(await readFile(join(folder, received.file), 'utf8')).toBe('abc');
      expect(received.length).toBe(3);
      return received;
    });
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('the names of content files are unique, and sort by time', async () => {
    const files: string[] = [];
    for (const milliseconds of [0, 0, 1, 1000, 1e9, 1e11]) {
      clock.advance(milliseconds / 1000);
      files.push((await content.add(pieces('x'), named)).file);
    }
    expect(new Set(files).size).toBe(6);
    const [one = '', other = '', ...later] = files;
    expect([one, other].toSorted().concat(later)).toEqual(files.toSorted());
  });

  test('content of the maximum length is kept; one byte more is 413 and leaves nothing', async () => {
    await content.add(pieces('12345', '67890'), named);
    const before = await readdir(folder);
    const more = content.add(pieces('12345', '678901'), named);
    await expect(more).rejects.toMatchObject({ status: 413 });
    expect(await readdir(folder)).toEqual(before);
  });

  test('content that ends early leaves nothing and is never committed', async () => {
    let asked = false;
    const add = content.add(pieces('abc', new Error('gone')), async () => {
      asked = true;
    });
    await expect(add).rejects.toThrow('gone');
    expect(asked).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  test.each<[keyof typeof constants.errno, object]>([
    ['ENOSPC', { status: 507 }],
    ['EDQUOT', { status: 507 }],
    ['EROFS', { name: 'StoreUnavailable', full: false, refused: true }],
    ['EIO', { name: 'StoreUnavailable', full: false, refused: true }],
  ])(
    'RFC 4918 section 11.5: an upload to a full disk is 507, one to a disk with the error %s is 503, and nothing is left',
    async (code, expected) => {
      const reason = { code, errno: -constants.errno[code], syscall: 'fsync' };
      const failing = open({
        sync: () => Promise.reject(Object.assign(new Error('sync failed'), reason)),
      });
      await begin();
      await expect(failing.add(pieces('abc'), named)).rejects.toMatchObject(expected);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('an error of the request body does not count as an error of the disk', async () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' });
    await expect(content.add(pieces('abc', reset), named)).rejects.toBe(reset);
  });

  test('RFC 4918 section 11.5: content longer than the free room is 507 at its begin, and does not count as an outage', async () => {
    const files = new ContentDisk(outer, silentLog, clock);
    const long = Number.MAX_SAFE_INTEGER;
    const body = pieces('first', new Error('second'));
    const adding = open({ files, uploads: new Uploads(long) }).add(body, named, long);
    await expect(adding).rejects.toMatchObject({ status: 507 });
    await files.check('all');
  });

  test.each([new HttpError(412, 'no'), new Error('bug')])(
    'a commit that was refused (%s) removes the content file',
    async (error) => {
      const refuse = async () => {
        throw error;
      };
      await expect(content.add(pieces('abc'), refuse)).rejects.toBe(error);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('RFC 9110 section 15.6.4: too many concurrent uploads are 503 and leave nothing', async () => {
    await begin();
    const uploads = new Uploads(10);
    const busy = open({ uploads });
    const other = await uploads.begin('alice', 'other');
    await other.grow(256 * 1024 * 1024 - 5);
    const before = await readdir(folder);
    const refuse = async () => {
      throw new Error('refused');
    };
    for (let times = 0; times < 3; times += 1) {
      await expect(busy.add(pieces('12345', '6'), named)).rejects.toMatchObject({ status: 503 });
      await expect(busy.add(pieces('12345'), refuse)).rejects.toThrow('refused');
      expect(await readdir(folder)).toEqual(before);
    }
    await busy.add(pieces('123', '45'), named);
    await busy.add(pieces('12345'), named);
    other.end();
    await busy.add(pieces('1234567890'), named);
    expect(await readdir(folder)).toHaveLength(3);
  });

  test('a content file whose commit has an unknown outcome stays for the sweep', async () => {
    const lost = new StoreUnavailable('no answer');
    await expect(content.add(pieces('abc'), () => Promise.reject(lost))).rejects.toBe(lost);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a commit that the store refused leaves no file outside the quota', async () => {
    const full = new StoreUnavailable('no replicas', { refused: true });
    await expect(content.add(pieces('abc'), () => Promise.reject(full))).rejects.toBe(full);
    expect(await readdir(folder)).toHaveLength(0);
  });
});

describe('a store that keeps content of at most four bytes', () => {
  const kept = new Map<string, Buffer>();
  const rows: ContentRows = { longest: 4, read: async (name) => kept.get(name) };
  /** Commits content like a change that names it. */
  const keep = async ({ file, length }: Received) => {
    const bytes = waiting.get(file);
    if (bytes !== undefined) kept.set(file, bytes);
    return { file, length, bytes };
  };
  beforeEach(() => {
    kept.clear();
    content = open({ rows });
  });

  test.each([undefined, 0, 2, 4, 100])(
    'short content is in memory until its commit, and creates no file (%p bytes announced, which may be wrong)',
    async (announced) => {
      for (const text of ['', 'a', 'abc', 'abcd', 'abcde']) {
        const known = announced === undefined ? text.length : announced;
        const added = await content.add(pieces('', ...text.split('')), keep, known);
        const inMemory = known <= 4 && text.length <= (known || 4);
        expect(added).toMatchObject({ length: text.length });
        expect(added.bytes?.toString()).toBe(inMemory ? text : undefined);
        expect(waiting.size).toBe(0);
        expect(await content.read(added)).toEqual(Buffer.from(text));
        const files: readonly string[] = await readdir(folder).catch(() => []);
        expect(files.includes(added.file)).toBe(!inMemory);
      }
    },
  );

  test('short content leaves nothing if it ends early, is too long or is refused', async () => {
    const refuse = (error: Error) => async () => {
      throw error;
    };
    const gone = new Error('gone');
    await expect(content.add(pieces('ab', gone), keep)).rejects.toBe(gone);
    await expect(content.add(pieces('ab', gone), keep, 100)).rejects.toBe(gone);
    await expect(content.add(pieces('abcd', '6789101'), keep)).rejects.toMatchObject({
      status: 413,
    });
    await expect(content.add(pieces('ab'), refuse(gone))).rejects.toBe(gone);
    expect([kept.size, waiting.size]).toEqual([0, 0]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('RFC 4918 section 11.5: a full store is 507; after an outage of the store the content may be there', async () => {
    const full = new StoreUnavailable('full', { refused: true, full: true });
    const add = content.add(pieces('ab'), () => Promise.reject(full));
    await expect(add).rejects.toMatchObject({ status: 507 });
    const lost = new StoreUnavailable('no answer');
    const readOnly = new StoreUnavailable('the file system is read-only', { refused: true });
    for (const error of [lost, readOnly]) {
      await expect(content.add(pieces('ab'), () => Promise.reject(error))).rejects.toBe(error);
    }
  });

  test('any part of content in the store can be read, with and without memory', async () => {
    for (const memory of [new ContentMemory(MEMORY), new ContentMemory(0)]) {
      content = open({ rows, memory });
      const added = await content.add(pieces('abcd'), keep);
      expect(await content.read(added, { first: 1, last: 2 })).toEqual(Buffer.from('bc'));
      expect(await content.read(added, { first: 3, last: 3 })).toEqual(Buffer.from('d'));
      expect(await content.read(added)).toEqual(Buffer.from('abcd'));
    }
  });

  test('short content in a file, written under a lower limit, can still be read', async () => {
    const { file } = await open().add(pieces('ab'), named);
    expect(await content.read({ file, length: 2 })).toEqual(Buffer.from('ab'));
    await content.remove(file);
    expect(await content.read({ file, length: 2 })).toBeUndefined();
  });

  test('removed content is undefined, but an outage of the store is an error', async () => {
    content = open({ rows, memory: new ContentMemory(0) });
    const added = await content.add(pieces('ab'), keep);
    kept.clear();
    expect(await content.read(added)).toBeUndefined();
    const lost = new StoreUnavailable('no answer');
    content = open({ rows: { ...rows, read: () => Promise.reject(lost) } });
    await expect(content.read(added)).rejects.toBe(lost);
    expect(await content.read({ file: 'long', length: 5 })).toBeUndefined();
  });
});

describe('reading', () => {
  const NO_FILE = new DamagedContent('it is no regular file');
  const LONG = 70_000;
  const bytes = Buffer.from(Array.from({ length: LONG }, (_, index) => index % 251));

  async function read(file: string, length: number, range?: { first: number; last: number }) {
    const found = await content.read({ file, length }, range);
    return found && wholeOf(found);
  }

  test.each([10, LONG])('all of %d bytes of content, and any part, can be read', async (length) => {
    await begin();
    await writeFile(join(folder, 'file'), bytes.subarray(0, length));
    expect(await read('file', length)).toEqual(bytes.subarray(0, length));
    expect(await read('file', length, { first: 3, last: 7 })).toEqual(bytes.subarray(3, 8));
    expect(await read('file', length, { first: 0, last: 0 })).toEqual(bytes.subarray(0, 1));
    const end = { first: length - 2, last: length - 1 };
    expect(await read('file', length, end)).toEqual(bytes.subarray(length - 2, length));
  });

  test('short content is read from disk once, and later from memory', async () => {
    await begin();
    await writeFile(join(folder, 'file'), 'abcdef');
    expect(await read('file', 6, { first: 1, last: 2 })).toEqual(Buffer.from('bc'));
    await rm(join(folder, 'file'));
    expect(await read('file', 6)).toEqual(Buffer.from('abcdef'));
    expect(await read('file', 6, { first: 4, last: 5 })).toEqual(Buffer.from('ef'));
    await content.remove('file');
    expect(await read('file', 6)).toBeUndefined();
  });

  test('long content is kept in memory from its second use on, and content that is too long never', async () => {
    await begin();
    for (const [length, kept] of [
      [LONG, bytes],
      [80_000, undefined],
    ] as const) {
      await writeFile(join(folder, `${length}`), Buffer.alloc(length, bytes));
      for (let times = 0; times < 3; times += 1) await read(`${length}`, length);
      await rm(join(folder, `${length}`));
      expect(await read(`${length}`, length)).toEqual(kept);
    }
  });

  test.each([-1, 1])(
    'a file whose length differs from its row by %d is an error for each reader',
    async (by) => {
      await begin();
      for (const length of [10, LONG, 80_000]) {
        await writeFile(join(folder, `${length}`), Buffer.alloc(length + by));
        for (let times = 0; times < 3; times += 1) {
          await expect(read(`${length}`, length, { first: 0, last: 0 })).rejects.toEqual(
            new DamagedContent(`it has ${length + by} bytes, not ${length}`),
          );
        }
      }
    },
  );

  test('empty content is read without an error', async () => {
    await begin();
    await writeFile(join(folder, 'empty'), '');
    expect(await read('empty', 0)).toEqual(Buffer.alloc(0));
  });

  test('reading a missing file or folder gives undefined, and removing it is no error', async () => {
    expect(await read('gone', 1)).toBeUndefined();
    expect(await read('gone', LONG)).toBeUndefined();
    await content.remove('gone');
  });

  test.each([1, LONG])(
    'a planted symbolic link in place of %d bytes of content is not followed',
    async (length) => {
      await begin();
      await writeFile(join(outer, 'secret'), bytes);
      await symlink(join(outer, 'secret'), join(folder, 'link'));
      await expect(content.read({ file: 'link', length })).rejects.toThrow(NO_FILE);
    },
  );

  test.each([1, LONG])(
    'reading a planted pipe in place of %d bytes of content does not block',
    async (length) => {
      await begin();
      execFileSync('mkfifo', [join(folder, 'pipe')]);
      await expect(content.read({ file: 'pipe', length })).rejects.toThrow(NO_FILE);
    },
  );
});

describe('the sweep', () => {
  const rows =
    (...files: string[]) =>
    async () =>
      new Set(files);

  test('the sweep removes old files that no row names, including temporary files', async () => {
    await begin();
    await leave('old', AGE);
    await leave('old.part', AGE + 1);
    await leave('young', AGE - 1);
    await leave('named', 10 * AGE);
    expect(await content.sweep(rows('named'), clock, AGE)).toBe(2);
    expect((await readdir(folder)).toSorted()).toEqual(['named', 'young']);
  });

  test('the sweep removes a symbolic link of any age, and never its target', async () => {
    await begin();
    await writeFile(join(outer, 'secret'), 'x');
    await utimes(join(outer, 'secret'), 0, 0);
    await symlink(join(outer, 'secret'), join(folder, 'link'));
    await symlink(outer, join(folder, 'to-folder'));
    const far = new ManualClock((await lstat(join(folder, 'to-folder'))).mtimeMs + AGE * 1000);
    expect(await content.sweep(rows(), clock, 1_000_000_000)).toBe(0);
    expect(await content.sweep(rows(), far, AGE)).toBe(2);
    expect(await readFile(join(outer, 'secret'), 'utf8')).toBe('x');
  });

  test('the sweep keeps a running upload of any age, until it is committed', async () => {
    const far = new ManualClock(clock.now() * 2);
    const sweep = () => content.sweep(rows(), far, 0);
    async function* slow() {
      yield Buffer.from('a');
      expect(await readdir(folder)).toHaveLength(1);
      expect(await sweep()).toBe(0);
      yield Buffer.from('b');
    }
    const { file } = await content.add(slow(), async (received) => {
      expect(await sweep()).toBe(0);
      return received;
    });
    expect(await readFile(join(folder, file), 'utf8')).toBe('ab');
  });

  test('the sweep keeps an upload that is committed after the sweep has read the rows', async () => {
    const far = new ManualClock(clock.now() * 2);
    const reading = Promise.withResolvers<ReadonlySet<string>>();
    let sweeping: Promise<number> | undefined;
    const { file } = await content.add(pieces('a'), async (received) => {
      const read = new Promise<void>((resolve) => {
        sweeping = content.sweep(() => (resolve(), reading.promise), far, 0);
      });
      await read;
      return received;
    });
    reading.resolve(new Set());
    expect(await sweeping).toBe(0);
    expect(await readdir(folder)).toEqual([file]);
  });

  test('the sweep keeps a file that is committed meanwhile, since it reads rows last', async () => {
    await begin();
    await leave('racing', AGE);
    const late = new Set<string>();
    expect(await content.sweep(async () => late.add('racing'), clock, AGE)).toBe(0);
  });
});
