import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ContentMemory, type Held, SHORT } from './content-memory.ts';

const KIB = 1024;
const BUDGET = 1000 * KIB;
const LONG = 100 * KIB;

const loads = (length: number) => async (): Promise<Buffer | undefined> => Buffer.alloc(length);
const fails = () => Promise.reject(new Error('loaded again'));

/** Reads content as an answer does. Resolves to undefined if it is not kept in memory. */
async function ask(memory: ContentMemory, name: string, length: number, load = loads(length)) {
  const held = memory.hold(name, length, load);
  try {
    return await held?.content;
  } finally {
    held?.release();
  }
}

/** True if the content is in memory. Does not count as asking for it. */
async function isKept(memory: ContentMemory, name: string, length: number): Promise<boolean> {
  const found = await ask(memory, name, length, async () => undefined);
  return found !== undefined;
}

describe('content in memory', () => {
  test('is loaded once for all concurrent readers, and not again', async () => {
    const memory = new ContentMemory(BUDGET);
    let times = 0;
    const load = async () => {
      times += 1;
      return Buffer.from('abc');
    };
    const got = await Promise.all(Array.from({ length: 100 }, () => ask(memory, 'a', 3, load)));
    expect(got.map(String)).toEqual(Array.from({ length: 100 }, () => 'abc'));
    expect(times).toBe(1);
    expect(await ask(memory, 'a', 3, fails)).toEqual(Buffer.from('abc'));
  });

  test('a failed load fails for all its readers, and the next reader loads again', async () => {
    const memory = new ContentMemory(BUDGET);
    const failed = Promise.allSettled([ask(memory, 'a', 3, fails), ask(memory, 'a', 3)]);
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask(memory, 'a', 3, async () => undefined)).toBeUndefined();
    expect(memory.octets).toBe(0);
    expect(await ask(memory, 'a', 3)).toEqual(Buffer.alloc(3));
  });

  test('the least recently used content goes first', async () => {
    const memory = new ContentMemory(BUDGET);
    for (let index = 0; index < 15; index += 1) await ask(memory, `a${index}`, 60 * KIB);
    await ask(memory, 'a0', 60 * KIB, fails);
    for (let index = 15; index < 20; index += 1) await ask(memory, `a${index}`, 60 * KIB);
    expect(await isKept(memory, 'a1', 60 * KIB)).toBe(false);
    expect(await isKept(memory, 'a0', 60 * KIB)).toBe(true);
  });

  test('keeps long content on its second use', async () => {
    const memory = new ContentMemory(BUDGET);
    expect(memory.hold('long', LONG, fails)).toBeUndefined();
    expect(memory.hold('other', LONG, fails)).toBeUndefined();
    expect(memory.octets).toBe(0);
    expect(await ask(memory, 'long', LONG)).toHaveLength(LONG);
    expect(await ask(memory, 'long', LONG, fails)).toHaveLength(LONG);
  });

  test('keeps a part of long contents that are read in turn and do not all fit', async () => {
    const memory = new ContentMemory(BUDGET);
    const names = Array.from({ length: 15 }, (_, index) => `long ${index}`);
    let loaded = 0;
    const load = async () => {
      loaded += 1;
      return Buffer.alloc(LONG);
    };
    for (let round = 0; round < 10; round += 1) {
      for (const name of names) await ask(memory, name, LONG, load);
    }
    expect(loaded).toBe(9);
    for (let times = 0; times < 2; times += 1) await ask(memory, 'long 14', LONG, load);
    expect(await isKept(memory, 'long 14', LONG)).toBe(true); // asked for twice since others were
  });

  test('displaces nothing for content that is not admitted', async () => {
    const memory = new ContentMemory(BUDGET);
    const names = Array.from({ length: 9 }, (_, index) => `kept ${index}`);
    for (const name of [...names, ...names]) await ask(memory, name, LONG);
    await ask(memory, 'newcomer', 2 * LONG);
    for (const name of names.slice(1)) await ask(memory, name, LONG, fails);
    await ask(memory, 'newcomer', 2 * LONG, fails);
    expect(await isKept(memory, 'kept 0', LONG)).toBe(true);
  });

  test('drops content that nobody asks for any more, however much is asked for in turn', async () => {
    const [length, count] = [SHORT + 1, 4000];
    const memory = new ContentMemory(count * (length + 512));
    let loaded = 0;
    const load = async () => {
      loaded += 1;
      return Buffer.alloc(0);
    };
    for (const generation of ['old', 'new']) {
      for (let round = 0; round < 10; round += 1) {
        for (let index = 0; index < count; index += 1) {
          await ask(memory, `${generation} ${index}`, length, load);
        }
      }
    }
    expect(loaded).toBe(2 * count);
  });

  test('is not swept out by one long content, and never keeps content that is too long', async () => {
    const memory = new ContentMemory(BUDGET);
    const small = Array.from({ length: 100 }, (_, index) => `small ${index}`);
    for (const name of small) await ask(memory, name, 9 * KIB);
    const [most, more] = [BUDGET / 4 - 512, BUDGET / 4 - 511];
    for (let times = 0; times < 5; times += 1) {
      await ask(memory, 'most', most);
      expect(memory.hold('more', more, fails)).toBeUndefined();
    }
    const left = [];
    for (const name of small) if (await isKept(memory, name, 9 * KIB)) left.push(name);
    expect(left.length).toBeGreaterThan(75);
  });

  test('counts content in use until it is released, even if it was forgotten', async () => {
    const memory = new ContentMemory(BUDGET);
    const held = Array.from({ length: 16 }, (_, index) =>
      memory.hold(`a${index}`, 60 * KIB, loads(60 * KIB)),
    );
    expect(held.filter((one) => one === undefined)).toEqual([]);
    expect(memory.hold('one more', 60 * KIB, fails)).toBeUndefined();
    for (const one of held) await one?.content;
    memory.forget('a0');
    expect(memory.hold('one more', 60 * KIB, fails)).toBeUndefined();
    held[0]?.release();
    expect(await ask(memory, 'one more', 60 * KIB)).toHaveLength(60 * KIB);
    for (const one of held.slice(1)) one?.release();
    expect(memory.octets).toBeLessThanOrEqual(BUDGET);
  });

  test('keeps nothing with a budget of zero', () => {
    expect(new ContentMemory(0).hold('a', 0, fails)).toBeUndefined();
  });

  test('never takes more than the budget, whatever is asked for, fails, is held, released and forgotten', async () => {
    const lengths = [0, 1, 10 * KIB, 64 * KIB, 100 * KIB, 240 * KIB, 300 * KIB];
    const step = fc.record({
      name: fc.nat(40),
      what: fc.constantFrom('ask', 'ask', 'ask', 'release', 'forget', 'settle'),
      missing: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
        const memory = new ContentMemory(BUDGET);
        let held: Held[] = [];
        for (const { name, what, missing } of steps) {
          const length = lengths[name % lengths.length] ?? 0;
          if (what === 'ask') {
            const load = missing ? async () => undefined : loads(length);
            const one = memory.hold(`${name}`, length, load);
            if (one !== undefined) held.push(one);
          } else if (what === 'release') held.shift()?.release();
          else if (what === 'forget') memory.forget(`${name}`);
          else await Promise.all(held.map(({ content }) => content));
          expect(memory.octets).toBeLessThanOrEqual(BUDGET);
        }
        await Promise.all(held.map(({ content }) => content));
        for (const one of held.splice(0)) one.release();
        for (let name = 0; name <= 40; name += 1) memory.forget(`${name}`);
        held = [];
        expect(memory.octets).toBe(0);
      }),
    );
  });

  test('limits the number of empty entries, too', async () => {
    const memory = new ContentMemory(10 * KIB);
    for (let index = 0; index < 1000; index += 1) await ask(memory, `${index}`, 0);
    let kept = 0;
    for (let index = 999; await isKept(memory, `${index}`, 0); index -= 1) kept += 1;
    expect(kept).toBe(20);
  });
});
