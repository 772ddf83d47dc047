import { describe, expect, jest, test } from '@jest/globals';
import { MOST_ENTRIES } from '#shared/stores/audit/audit.ts';
import type { Commands } from '../connection/connection.ts';
import { openEntries } from './closing.ts';
import { type Entry, firstOpen } from './open-entries.ts';

/** Streams as Redis has them; ids are numbers before `-0`. Counts the parts that were read, and their entries. */
function redisWith(streams: Readonly<Record<string, readonly number[]>>) {
  const read = { parts: 0, entries: 0 };
  const command = async (
    _: string,
    stream: string,
    from: string,
    __: string,
    ...rest: string[]
  ) => {
    read.parts += 1;
    const after = from === '-' ? -1 : Number.parseInt(from.slice(1), 10);
    const found = (streams[stream] ?? []).filter((id) => id > after).slice(0, Number(rest[1]));
    read.entries += found.length;
    return found.map((id): Entry => [`${id}-0`, ['text', `${stream} ${id}`]]);
  };
  const settled = jest.fn<Commands['settled']>(async () => {});
  return { read, settled, redis: { command, settled } as unknown as Commands };
}

const numbers = (count: number, of: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => of(n));
const idsOf = async (streams: Readonly<Record<string, readonly number[]>>, positions = {}) => {
  const { redis, read } = redisWith(streams);
  const found = await firstOpen(redis, Object.keys(streams), positions);
  return { ids: found.map(({ entry: [id] }) => Number.parseInt(id, 10)), ...read };
};

describe('the first open entries of all streams', () => {
  const first = numbers(MOST_ENTRIES, (n) => n);

  test.each([
    ['one stream has all', { a: numbers(1500, (n) => n), b: [], c: [] }],
    ['two take turns', { a: numbers(800, (n) => 2 * n), b: numbers(800, (n) => 2 * n + 1) }],
    ['one has the early ones', { a: numbers(700, (n) => n), b: numbers(700, (n) => 700 + n) }],
    [
      'the later ones begin amid a part of another',
      {
        a: numbers(150, (n) => n),
        b: numbers(900, (n) => 150 + n),
        c: numbers(250, (n) => 1050 + n),
      },
    ],
  ])('%s: they come in order without a gap', async (_, streams) => {
    expect((await idsOf(streams)).ids).toEqual(first);
  });

  test('fewer than a link may have come in one round, each stream read once', async () => {
    const streams = { a: [1, 4], b: [2], c: [], d: [3] };
    expect(await idsOf(streams)).toEqual({ ids: [1, 2, 3, 4], parts: 4, entries: 4 });
  });

  test.each([1, 10, 100])(
    'a hundred thousand in %i streams: little more is read than is returned, in few steps',
    async (count) => {
      const some = (s: number) => numbers(100_000 / count, (n) => count * n + s);
      const streams = Object.fromEntries(numbers(count, (n) => n).map((s) => [`s${s}`, some(s)]));
      const { ids, parts, entries } = await idsOf(streams);
      expect(ids).toEqual(first);
      expect(entries).toBeLessThan(4 * MOST_ENTRIES);
      expect(parts).toBeLessThanOrEqual(4 * count);
    },
  );

  test('closed entries are left out', async () => {
    const streams = { a: [1, 4], b: [2, 5] };
    const positions = { a: '1-0', b: '5-0' };
    expect((await idsOf(streams, positions)).ids).toEqual([4]);
  });

  test('ids of the same millisecond and two streams that end alike lose nothing', async () => {
    const streams = { a: numbers(450, (n) => n), b: numbers(450, (n) => n) };
    expect((await idsOf(streams)).ids).toEqual(numbers(900, (n) => Math.floor(n / 2)));
  });
});

test('a link closes only entries that the replicas of each of their shards have', async () => {
  const { redis, settled } = redisWith({ a: [1, 2], b: [], c: [3] });
  const streams = { all: ['a', 'b', 'c'], of: String, for: String };
  const { behind } = openEntries(redis, streams, 'turn');
  settled.mockImplementation(async (stream) => {
    if (stream === 'c') throw new Error('no replica');
  });
  await expect(behind(null)).rejects.toThrow('no replica');
  settled.mockImplementation(async () => {});
  settled.mockClear();
  expect((await behind(null)).texts).toEqual(['a 1', 'a 2', 'c 3']);
  expect(settled.mock.calls.flat()).toEqual(['a', 'c']);
});
