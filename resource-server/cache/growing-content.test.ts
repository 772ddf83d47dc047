import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Pieces } from '../answers/pieces.ts';
import { GrowingContent } from './growing-content.ts';
import type { Writing } from './store/cache-store.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const WINDOW = 256 * 1024;

/** Keeps that many octets. */
function writing(
  most: number,
  append?: (kept: Buffer[], piece: Buffer) => Promise<boolean>,
): Writing {
  const kept: Buffer[] = [];
  const length = () => kept.reduce((sum, piece) => sum + piece.length, 0);
  return {
    get length() {
      return length();
    },
    append(piece) {
      if (append) return append(kept, piece);
      if (length() + piece.length > most) return false;
      kept.push(Buffer.from(piece));
      return true;
    },
    read: (position, octets) => Buffer.concat(kept).subarray(position, position + octets),
    commit: async () => undefined,
    abandon() {},
    close() {},
  };
}

const growing = (kept: Writing, sized = false) => new GrowingContent({ writing: kept, sized });

async function textOf(pieces: Pieces, most = Infinity): Promise<string> {
  const read: Buffer[] = [];
  await using held = pieces;
  for await (const piece of held.each(most)) read.push(Buffer.from(piece));
  return Buffer.concat(read).toString();
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

test('several readers read content as it arrives, each from its own position', async () => {
  const content = growing(writing(100));
  const early = textOf(content.pieces());
  content.write(Buffer.from('abc'));
  await turn();
  const middle = textOf(content.pieces(1, 4), 2);
  content.write(Buffer.from('def'));
  await content.end();
  const late = textOf(content.pieces());
  expect(await Promise.all([early, middle, late])).toEqual(['abcdef', 'bcde', 'abcdef']);
});

test('content that the store refuses reaches readers that join before the first read', async () => {
  const content = growing(writing(2));
  expect(content.write(Buffer.from('abc'))).toBe(true);
  expect(content.write(Buffer.from('def'))).toBe(true);
  expect(content.kept).toBe(false);
  expect(content.readable).toBe(true);
  await content.end();
  expect(await textOf(content.pieces())).toBe('abcdef');
});

test('content that turns out too long while it arrives reaches all its readers whole', async () => {
  const content = growing(writing(4));
  const readers = [
    textOf(content.pieces()),
    textOf(content.pieces(), 1),
    textOf(content.pieces(2)),
  ];
  for (const piece of ['abc', 'def', 'ghi', 'jkl']) {
    content.write(Buffer.from(piece));
    await turn();
  }
  await content.end();
  expect(await Promise.all(readers)).toEqual(['abcdefghijkl', 'abcdefghijkl', 'cdefghijkl']);
});

test('a reader that joins after the beginning was dropped gets an error instead of wrong content', async () => {
  const content = growing(writing(3));
  const first = textOf(content.pieces());
  for (const piece of ['abc', 'def', 'ghi']) {
    content.write(Buffer.from(piece));
    await turn();
  }
  expect(content.readable).toBe(false);
  const late = textOf(content.pieces());
  await content.end();
  await expect(late).rejects.toThrow('gone');
  expect(await first).toBe('abcdefghi');
});

test('readers of content that breaks off get an error', async () => {
  const content = growing(writing(100));
  const reading = textOf(content.pieces());
  content.write(Buffer.from('abc'));
  content.breakOff();
  await content.end();
  await expect(reading).rejects.toThrow('broke off');
  await expect(textOf(content.pieces())).rejects.toThrow('broke off');
});

test('readers get all content although the store fails, or refuses a piece that it has stored', async () => {
  const failing = writing(0, async () => {
    throw new Error('disk');
  });
  const half = writing(0, async (kept, piece) => {
    kept.push(piece);
    return false;
  });
  for (const one of [failing, half]) {
    const content = growing(one);
    const reading = textOf(content.pieces());
    expect(content.write(Buffer.from('abc'))).toBe(false);
    expect(content.write(Buffer.from('def'))).toBe(false);
    await content.end();
    expect(await reading).toBe('abcdef');
    expect(content.kept).toBe(false);
  }
});

test('a stalled reader of stored content delays no other reader', async () => {
  const content = growing(writing(Infinity));
  content.pieces();
  const resumed = jest.fn();
  for (let count = 0; count < 4; count += 1) {
    expect(content.write(Buffer.alloc(WINDOW))).toBe(true);
  }
  content.drained(resumed);
  await content.end();
  expect(await textOf(content.pieces())).toHaveLength(4 * WINDOW);
});

test('content that is not stored arrives at the pace of its slowest reader, which gets every octet', async () => {
  const content = growing(writing(0));
  const halves = content.pieces().each(WINDOW / 2);
  const slow = halves[Symbol.asyncIterator]();
  const fast = textOf(content.pieces());
  const resumed = jest.fn();
  expect(content.write(Buffer.alloc(WINDOW, 'a'))).toBe(false);
  content.drained(resumed);
  await slow.next();
  jest.advanceTimersByTime(3_600_000);
  await slow.next();
  expect(resumed).not.toHaveBeenCalled();
  const third = slow.next(); // the first piece is taken
  await turn();
  expect(resumed).toHaveBeenCalledTimes(1);
  content.write(Buffer.from('b'));
  await content.end();
  expect((await third).value?.toString()).toBe('b');
  expect((await slow.next()).done).toBe(true);
  expect(await fast).toHaveLength(WINDOW + 1);
});

test.each([
  { length: 'unknown', sized: false, begun: 'nothing' },
  { length: 'known', sized: true, begun: true },
])(
  'content of $length length is safe for another reader when all or enough is kept',
  async (row) => {
    const content = growing(writing(100), row.sized);
    content.write(Buffer.from('abc'));
    expect(await Promise.race([content.safe, turn().then(() => 'nothing')])).toBe(row.begun);
    await content.end();
    expect(await content.safe).toBe(true);
  },
);

test.each([true, false])(
  'content that cannot be kept, or breaks off, is not safe for another reader (length known: %p)',
  async (sized) => {
    const outgrown = jest.fn();
    const long = new GrowingContent({ writing: writing(2), sized, outgrown });
    long.write(Buffer.from('abc'));
    expect(outgrown).toHaveBeenCalledTimes(1);
    long.write(Buffer.from('def'));
    await long.end();
    const broken = growing(writing(100), sized);
    broken.breakOff();
    expect(await Promise.all([long.safe, broken.safe])).toEqual([false, false]);
    expect(outgrown).toHaveBeenCalledTimes(1);
  },
);

test('content with a single slow reader arrives at the pace of that reader', async () => {
  const content = growing(writing(0));
  const reading = content.pieces().each(Infinity)[Symbol.asyncIterator]();
  expect(content.write(Buffer.alloc(WINDOW))).toBe(false);
  const resumed = jest.fn();
  content.drained(resumed);
  await reading.next();
  jest.advanceTimersByTime(60_000);
  expect(resumed).not.toHaveBeenCalled();
  const next = reading.next();
  expect(resumed).toHaveBeenCalledTimes(1);
  await content.end();
  expect((await next).done).toBe(true);
});

test('a reader misses no piece that arrives during a read', async () => {
  const content = growing(writing(100));
  const reading = textOf(content.pieces()); // it has looked, and found nothing
  content.write(Buffer.from('abc'));
  await content.end();
  expect(await reading).toBe('abc');
});
