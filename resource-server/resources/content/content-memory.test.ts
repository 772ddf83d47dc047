import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ContentMemory, type Held, SHORT } from './content-memory.ts';

const KIB = 1024;
const BUDGET = 1000 * KIB;
const LONG = 100 * KIB;

const loads = (length: number) => async (): Promise<Buffer | undefined> => Buffer.alloc(length);
const fails = () => Promise.reject(new Error('loaded again'));

/** Reads content as an answer does. Resolves to undefined if memory does not keep the content. */
async function ask(memory: ContentMemory, name: string, length: number, load = loads(length)) {
  const held = memory.hold(name, length, load);
  try {
    return await held?.content;
  } finally {
    held?.release();
  }
}

/** True if the content is in memory. This check does not change the order of use. */
async function isKept(memory: ContentMemory, name: string, length: number): Promise<boolean> {
  const found = await ask(memory, name, length, async () => undefined);
  return found !== undefined;
}

describe('content in memory', () => {
  test('content is loaded once for all concurrent readers, and not again', async () => {
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

  test('the least recently used content leaves memory first', async () => {
    const memory = new ContentMemory(BUDGET);
    for (let index = 0; index < 15; index += 1) await ask(memory, `a${index}`, 60 * KIB);
    await ask(memory, 'a0', 60 * KIB, fails);
    for (let index = 15; index < 20; index += 1) await ask(memory, `a${index}`, 60 * KIB);
    expect(await isKept(memory, 'a1', 60 * KIB)).toBe(false);
    expect(await isKept(memory, 'a0', 60 * KIB)).toBe(true);
  });

  test('long content stays in memory from its second use on', async () => {
    const memory = new ContentMemory(BUDGET);
    expect(memory.hold('long', LONG, fails)).toBeUndefined();
    expect(memory.hold('other', LONG, fails)).toBeUndefined();
    expect(memory.octets).toBe(0);
    expect(await ask(memory, 'long', LONG)).toHaveLength(LONG);
    expect(await ask(memory, 'long', LONG, fails)).toHaveLength(LONG);
  });

  test('a part of many long contents stays in memory if they do not all fit', async () => {
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
    expect(await isKept(memory, 'long 14', LONG)).toBe(true); // requested twice since other contents were requested
  });

  test('content that memory does not admit displaces nothing', async () => {
    const memory = new ContentMemory(BUDGET);
    const names = Array.from({ length: 9 }, (_, index) => `kept ${index}`);
    for (const name of [...names, ...names]) await ask(memory, name, LONG);
    await ask(memory, 'newcomer', 2 * LONG);
    for (const name of names.slice(1)) await ask(memory, name, LONG, fails);
    await ask(memory, 'newcomer', 2 * LONG, fails);
    expect(await isKept(memory, 'kept 0', LONG)).toBe(true);
  });

  test('content that is no longer requested leaves memory, however many others are requested', async () => {
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

  test('one long content does not displace everything, and content that is too long is never kept', async () => {
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

  test('content in use counts until it is released, even after it was removed', async () => {
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

  test('a memory with a budget of zero keeps nothing', () => {
    expect(new ContentMemory(0).hold('a', 0, fails)).toBeUndefined();
  });

  test('the memory never exceeds its budget, for any sequence of loads, failures, releases and removals', async () => {
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

  test('the number of empty contents in memory is limited, too', async () => {
    const memory = new ContentMemory(10 * KIB);
    for (let index = 0; index < 1000; index += 1) await ask(memory, `${index}`, 0);
    let kept = 0;
    for (let index = 999; await isKept(memory, `${index}`, 0); index -= 1) kept += 1;
    expect(kept).toBe(20);
  });
});
