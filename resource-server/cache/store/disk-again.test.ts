import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { contentOf, idsOf, keep, KEY, someAnswer } from './contract/under-test.ts';
import { openDisk } from './disk.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const open = (spaces: readonly string[] = ['a']) => openDisk({ folder, spaces });
const files = (number = 0) => readdirSync(join(folder, `${number}`, 'content'));
const fileOf = (name: string | undefined) => join(folder, '0', 'content', name ?? '');

/** Opens the disk, runs `work`, and closes the disk. */
async function once<T>(
  work: (disk: Awaited<ReturnType<typeof open>>) => Promise<T>,
  spaces = ['a'],
) {
  await using disk = await open(spaces);
  return await work(disk);
}

describe('a disk that is opened again', () => {
  test('a reopened disk has the stored, freshened and outdated answers, without the removed answers', async () => {
    const [kept, fresh, stale, gone] = ['/k', '/f', '/s', '/g'].map((target) =>
      someAnswer({ target, vary: [['accept', null]], tags: ['tag'] }),
    );
    if (!kept || !fresh || !stale || !gone) throw new Error('four');
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      for (const stored of [kept, fresh, stale, gone])
        await keep(store, stored, 'a'.repeat(200_000));
      await store.replace({ ...fresh, received: 9000 });
      await store.removeTarget('/s', true);
      await store.removeTarget('/g', false);
    });
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      const length = 200_000;
      expect(await store.find(kept)).toEqual([{ ...kept, length }]);
      expect(await store.find(fresh)).toEqual([{ ...fresh, length, received: 9000 }]);
      expect(await store.find(stale)).toEqual([{ ...stale, length, outdated: true }]);
      expect(await store.find(gone)).toEqual([]);
      expect(await contentOf(store, kept)).toBe('a'.repeat(200_000));
      expect(files()).toHaveLength(3);
      const { octets } = store.stats();
      await store.clear();
      expect(octets).toBeGreaterThan(600_000);
      expect(store.stats().octets).toBe(0);
    });
    expect(files()).toEqual([]);
  });

  test('a disk reopened with less room has lost the answers that were stored first', async () => {
    const all = Array.from({ length: 5 }, (_, n) => someAnswer({ target: `/${n}` }));
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      for (const stored of all) await keep(store, stored, 'a'.repeat(10_000));
    });
    await once(async (disk) => {
      const store = disk.store('a', 25_000);
      for (const [n, stored] of all.entries()) {
        expect(await idsOf(store, stored)).toEqual(n < 3 ? [] : [stored.id]);
      }
    });
    expect(files()).toHaveLength(2);
  });

  test('a reopened disk removes answers of spaces that no longer exist, and separates the answers of spaces', async () => {
    const [one, other] = [someAnswer(), someAnswer()];
    await once(
      async (disk) => {
        const [a, b] = [disk.store('a', 1_000_000), disk.store('b', 1_000_000)];
        await keep(a, one);
        await keep(b, other);
        expect(await idsOf(a)).toEqual([one.id]);
        expect(await idsOf(b)).toEqual([other.id]);
      },
      ['a', 'b'],
    );
    await once(async () => {}, ['b']);
    await once(
      async (disk) => {
        expect(await idsOf(disk.store('a', 1_000_000))).toEqual([]);
        expect(await idsOf(disk.store('b', 1_000_000))).toEqual([other.id]);
      },
      ['a', 'b'],
    );
    expect(files()).toHaveLength(1);
  });

  test('a reopened disk removes files without a row, and never uses their names for two answers', async () => {
    const kept = someAnswer();
    await once((disk) => keep(disk.store('a', 1_000_000), kept));
    writeFileSync(fileOf('2'), 'of an answer that was coming');
    writeFileSync(fileOf('other'), 'whatever');
    await once(async (disk) => {
      expect(files()).toEqual(['1']);
      const store = disk.store('a', 1_000_000);
      const next = await keep(store, someAnswer({ target: '/next' }), 'next');
      expect(await contentOf(store, next ?? kept)).toBe('next');
      expect(await contentOf(store, kept)).toBe(`content of ${kept.id}`);
    });
  });

  test.each([
    ['is gone', (path: string) => rmSync(path)],
    ['is short', (path: string) => truncateSync(path, 199_999)],
    ['is longer', (path: string) => writeFileSync(path, 'a', { flag: 'a' })],
    [
      'has other octets, as after a loss of power',
      (path: string) => writeFileSync(path, readFileSync(path).fill(0, 150_000)),
    ],
  ])('an answer whose file %s is removed', async (_, harm) => {
    const [stored, other] = [someAnswer(), someAnswer({ target: '/other' })];
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      await keep(store, stored, 'a'.repeat(200_000));
      await keep(store, other);
    });
    harm(fileOf('1'));
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      expect(await idsOf(store)).toEqual([stored.id]);
      expect(await contentOf(store, stored)).toBeUndefined();
      expect(await idsOf(store)).toEqual([]);
      expect(await contentOf(store, other)).toBe(`content of ${other.id}`);
    });
    expect(files()).toEqual(['2']);
  });

  test.each([
    ['are no database', (path: string) => writeFileSync(path, 'a'.repeat(8192))],
    [
      'were made by a newer release',
      (path: string) => {
        using database = new DatabaseSync(path);
        database.exec('PRAGMA user_version = 99; UPDATE schema SET oldest = 99');
      },
    ],
  ])('a disk whose rows %s is reopened empty', async (_, harm) => {
    await once((disk) => keep(disk.store('a', 1_000_000), someAnswer()));
    harm(join(folder, '0', 'answers.db'));
    await once(async (disk) => {
      const store = disk.store('a', 1_000_000);
      expect(await idsOf(store)).toEqual([]);
      expect(disk.position).toBeUndefined();
      expect(files()).toEqual([]);
      expect(await keep(store, someAnswer())).toBeDefined();
    });
  });
});

describe('a folder of several processes', () => {
  test('each process has the first free folder, and no process sees the answers of another', async () => {
    const one = await open();
    const kept = someAnswer();
    await keep(one.store('a', 1_000_000), kept);
    {
      await using other = await open();
      expect(await idsOf(other.store('a', 1_000_000))).toEqual([]);
      expect(readdirSync(folder).toSorted()).toEqual(['0', '1']);
    }
    await one[Symbol.asyncDispose]();
    await using again = await open();
    expect(await idsOf(again.store('a', 1_000_000))).toEqual([kept.id]);
  });

  test('content that arrives after closing creates no file', async () => {
    const disk = await open();
    const writing = disk.store('a', 1_000_000).begin(someAnswer());
    await disk[Symbol.asyncDispose]();
    expect(await writing?.append(Buffer.from('late'))).toBe(false);
    expect(await writing?.commit([])).toBeUndefined();
    writing?.close();
    expect(files()).toEqual([]);
  });

  test('content that ends while its file is created leaves no file', async () => {
    await once(async (disk) => {
      const writing = disk.store('a', 1_000_000).begin(someAnswer());
      const appending = writing?.append(Buffer.from('late'));
      writing?.close();
      expect(await appending).toBe(false);
    });
    expect(files()).toEqual([]);
  });
});

describe('the position of the feed', () => {
  test('the position of the feed is there after reopening', async () => {
    expect(await once(async (disk) => disk.position)).toBeUndefined();
    await once(async (disk) => {
      disk.setPosition('7');
      expect(disk.position).toBe('7');
      disk.setPosition('8');
    });
    expect(await once(async (disk) => disk.position)).toBe('8');
  });

  test('the position of the feed is not written before running removals end, in any space', async () => {
    await using disk = await open(['a', 'b']);
    const store = disk.store('a', 10_000_000);
    for (let n = 0; n < 600; n += 1) await keep(store, someAnswer({ target: `/${n}` }), '');
    disk.setPosition('1');
    const removing = store.removeWhere(() => true, false);
    disk.setPosition('2');
    expect(disk.store('b', 1_000_000).removeTarget('/', false)).toBe(0);
    disk.setPosition('3');
    expect(disk.position).toBe('1');
    expect(await removing).toBe(600);
    expect(disk.position).toBe('3');
  });

  test('the position of the feed is no longer written after a removal failed', async () => {
    await using disk = await open();
    const store = disk.store('a', 1_000_000);
    await keep(store, someAnswer());
    const fails = () => {
      throw new Error('a defect');
    };
    await expect(store.removeWhere(fails, false)).rejects.toThrow('a defect');
    disk.setPosition('1');
    expect(disk.position).toBeUndefined();
    expect(await idsOf(store, KEY)).toHaveLength(1);
  });
});

test('a space has a limited number of answers, however short they are', async () => {
  await using disk = await openDisk({ folder, spaces: ['a'], mostEntries: 3 });
  const store = disk.store('a', 1_000_000);
  for (let n = 0; n < 5; n += 1) await keep(store, someAnswer({ target: `/${n}` }), '');
  expect(store.stats().entries).toBe(3);
  expect(await idsOf(store, { ...KEY, target: '/1' })).toEqual([]);
});

test('folders of ended processes are emptied after a day, and other folders stay', async () => {
  const DAY = 86_400_000;
  const now = Date.now();
  const contents = () =>
    [0, 1, 2].map((number) => readdirSync(join(folder, `${number}`)).toSorted());
  const [kept, none] = [['answers.db', 'content', 'lock'], ['lock']];
  mkdirSync(join(folder, 'lost+found'));
  await using first = await open();
  await using second = await open();
  {
    await using third = await open();
    await keep(third.store('a', 1_000_000), someAnswer(), 'a'.repeat(200_000));
  }
  const has = (number: number) => contents()[number]?.filter((name) => kept.includes(name));
  await first.tidy(now + DAY - 60_000);
  expect([has(1), has(2)]).toEqual([kept, kept]);
  // The second folder is still in use, although its time stamp is old.
  await first.tidy(now + DAY + 60_000);
  expect([has(0), has(1), contents()[2]]).toEqual([kept, kept, none]);
  await first.tidy(now + 2 * DAY);
  await keep(second.store('a', 1_000_000), someAnswer(), 'a'.repeat(200_000));
  await using again = await open();
  expect(await again.store('a', 1_000_000).find(someAnswer())).toEqual([]);
  expect([again.position, has(2)]).toEqual([undefined, kept]);
});

test('a folder that was in use until now stays for the next process', async () => {
  const DAY = 86_400_000;
  const now = Date.now();
  const length = 200_000;
  await using first = await open();
  {
    await using second = await open();
    await keep(second.store('a', 1_000_000), someAnswer(), 'a'.repeat(length));
    await second.tidy(now + 3 * DAY);
  }
  await first.tidy(now + 3 * DAY + 60_000);
  await using second = await open();
  expect(await second.store('a', 1_000_000).find(someAnswer())).toMatchObject([{ length }]);
});
