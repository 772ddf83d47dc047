import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Pieces } from '../resources/pieces.ts';
import { GrowingContent } from './growing-content.ts';
import type { Writing } from './store/cache-store.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const WINDOW = 256 * 1024;

/** Keeps so many octets. */
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

async function textOf(pieces: Pieces, most = Infinity): Promise<string> {
  const read: Buffer[] = [];
  await using held = pieces;
  for await (const piece of held.each(most)) read.push(Buffer.from(piece));
  return Buffer.concat(read).toString();
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

test('several read it as it comes, each from where it wants', async () => {
  const content = new GrowingContent(writing(100));
  const early = textOf(content.pieces('192.0.2.1'));
  content.write(Buffer.from('abc'));
  await turn();
  const middle = textOf(content.pieces('192.0.2.1', 1, 4), 2);
  content.write(Buffer.from('def'));
  await content.end();
  const late = textOf(content.pieces('192.0.2.1'));
  expect(await Promise.all([early, middle, late])).toEqual(['abcdef', 'bcde', 'abcdef']);
});

test('what the store does not take reaches readers that come with the head', async () => {
  const content = new GrowingContent(writing(2));
  expect(content.write(Buffer.from('abc'))).toBe(true);
  expect(content.write(Buffer.from('def'))).toBe(true);
  expect(content.kept).toBe(false);
  expect(content.readable).toBe(true);
  await content.end();
  expect(await textOf(content.pieces('192.0.2.1'))).toBe('abcdef');
});

test('what turns out too long in the middle reaches all its readers whole', async () => {
  const content = new GrowingContent(writing(4));
  const readers = [
    textOf(content.pieces('192.0.2.1')),
    textOf(content.pieces('192.0.2.1'), 1),
    textOf(content.pieces('192.0.2.1', 2)),
  ];
  for (const piece of ['abc', 'def', 'ghi', 'jkl']) {
    content.write(Buffer.from(piece));
    await turn();
  }
  await content.end();
  expect(await Promise.all(readers)).toEqual(['abcdefghijkl', 'abcdefghijkl', 'cdefghijkl']);
});

test('who comes when something is gone is given nothing wrong', async () => {
  const content = new GrowingContent(writing(3));
  const first = textOf(content.pieces('192.0.2.1'));
  for (const piece of ['abc', 'def', 'ghi']) {
    content.write(Buffer.from(piece));
    await turn();
  }
  expect(content.readable).toBe(false);
  const late = textOf(content.pieces('192.0.2.1'));
  await content.end();
  await expect(late).rejects.toThrow('gone');
  expect(await first).toBe('abcdefghi');
});

test('what breaks off never looks whole', async () => {
  const content = new GrowingContent(writing(100));
  const reading = textOf(content.pieces('192.0.2.1'));
  content.write(Buffer.from('abc'));
  content.breakOff();
  await content.end();
  await expect(reading).rejects.toThrow('broke off');
  await expect(textOf(content.pieces('192.0.2.1'))).rejects.toThrow('broke off');
});

test('a store that fails, or ends a write that it has done, changes nothing for readers', async () => {
  const failing = writing(0, async () => {
    throw new Error('disk');
  });
  const half = writing(0, async (kept, piece) => {
    kept.push(piece);
    return false;
  });
  for (const one of [failing, half]) {
    const content = new GrowingContent(one);
    const reading = textOf(content.pieces('192.0.2.1'));
    expect(content.write(Buffer.from('abc'))).toBe(false);
    expect(content.write(Buffer.from('def'))).toBe(false);
    await content.end();
    expect(await reading).toBe('abcdef');
    expect(content.kept).toBe(false);
  }
});

test('of what is kept a reader that stalls holds up nobody', async () => {
  const content = new GrowingContent(writing(Infinity));
  content.pieces('192.0.2.1');
  const resumed = jest.fn();
  for (let count = 0; count < 4; count += 1) {
    expect(content.write(Buffer.alloc(WINDOW))).toBe(true);
  }
  content.drained(resumed);
  await content.end();
  expect(await textOf(content.pieces('192.0.2.1'))).toHaveLength(4 * WINDOW);
});

test('of what is not kept a reader that stalls holds others up for half a second', async () => {
  const content = new GrowingContent(writing(0));
  const slow = content.pieces('192.0.2.1').each(10)[Symbol.asyncIterator]();
  const fast = textOf(content.pieces('192.0.2.2'));
  content.write(Buffer.from('0123456789abcdef'));
  expect((await slow.next()).value).toEqual(Buffer.from('0123456789'));
  const second = slow.next(); // it stands within a piece
  await second;
  const resumed = jest.fn();
  expect(content.write(Buffer.alloc(WINDOW, 'x'))).toBe(false);
  content.drained(resumed);
  await turn();
  expect(resumed).not.toHaveBeenCalled();
  jest.advanceTimersByTime(500);
  expect(resumed).toHaveBeenCalledTimes(1);
  await content.end();
  await expect(slow.next()).rejects.toThrow('broke off');
  expect(await fast).toHaveLength(16 + WINDOW);
  expect(jest.getTimerCount()).toBe(0);
});

test('of what is not kept the next reader of an address that stalls holds nobody up', async () => {
  const content = new GrowingContent(writing(0));
  const [first, next] = ['192.0.2.1', '192.0.2.1'].map((from) =>
    content.pieces(from).each(WINDOW)[Symbol.asyncIterator](),
  );
  const fast = textOf(content.pieces('192.0.2.2'));
  const write = async (text: string) => {
    const resumed = jest.fn();
    if (!content.write(Buffer.alloc(WINDOW, text))) content.drained(resumed);
    await turn();
    await turn();
    return resumed;
  };
  const resumed = await write('a');
  await Promise.all([first?.next(), next?.next()]);
  void next?.next(); // it has read all there is
  await turn();
  jest.advanceTimersByTime(500);
  expect(resumed).toHaveBeenCalledTimes(1);
  await expect(first?.next()).rejects.toThrow('broke off');
  expect(await write('b')).toHaveBeenCalledTimes(1);
  await content.end();
  await expect(next?.next()).rejects.toThrow('broke off');
  expect(await fast).toHaveLength(2 * WINDOW);
});

test('of what is not kept a reader that is fast enough is waited for', async () => {
  const content = new GrowingContent(writing(0));
  const read64 = content.pieces('192.0.2.1').each(WINDOW / 4);
  const slow = read64[Symbol.asyncIterator]();
  const fast = textOf(content.pieces('192.0.2.2'));
  content.write(Buffer.alloc(WINDOW));
  let read = 0;
  for (let times = 0; times < 4; times += 1) {
    read += (await slow.next()).value?.length ?? 0;
    await turn();
    jest.advanceTimersByTime(times === 0 ? 0 : 400);
  }
  expect(read).toBe(WINDOW);
  await content.end();
  expect((await slow.next()).done).toBe(true);
  expect(await fast).toHaveLength(WINDOW);
});

test('one reader alone takes its time', async () => {
  const content = new GrowingContent(writing(0));
  const reading = content.pieces('192.0.2.1').each(Infinity)[Symbol.asyncIterator]();
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

test('nothing that comes while somebody reads is missed', async () => {
  const content = new GrowingContent(writing(100));
  const reading = textOf(content.pieces('192.0.2.1')); // it has looked, and found nothing
  content.write(Buffer.from('abc'));
  await content.end();
  expect(await reading).toBe('abc');
});
