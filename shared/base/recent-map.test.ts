import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RecentMap, remembering } from './recent-map.ts';

test('the map keeps entries that are read, and forgets the rest', () => {
  const map = new RecentMap<number>(4);
  map.set('kept', 0);
  for (let n = 1; n < 100; n += 1) {
    map.set(`other ${n}`, n);
    expect(map.get('kept')).toBe(0);
  }
  expect(map.get('other 1')).toBeUndefined();
  expect(map.get('other 99')).toBe(99);
});

test('setting a known key again displaces no entry', () => {
  const map = new RecentMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  for (let n = 0; n < 10; n += 1) map.set('b', n);
  expect(map.get('a')).toBe(1);
});

test('the map never holds more than its capacity, and never a value of another key', () => {
  const keys = fc.array(fc.string({ maxLength: 2 }), { maxLength: 200 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 2, max: 20 }), (names, capacity) => {
      const map = new RecentMap<string>(capacity);
      for (const name of names) map.set(name, name);
      const held = [...new Set(names)].flatMap((name) => {
        const value = map.get(name);
        return value === undefined ? [] : [{ name, value }];
      });
      expect(held.length).toBeLessThanOrEqual(capacity);
      expect(held.every(({ name, value }) => name === value)).toBe(true);
    }),
  );
});

test('a deleted entry is removed from either generation', () => {
  const map = new RecentMap<number>(4);
  for (const key of ['old', 'older', 'young']) map.set(key, 1);
  for (const key of ['old', 'young', 'never']) map.delete(key);
  expect(['old', 'older', 'young'].map((key) => map.get(key))).toEqual([undefined, 1, undefined]);
});

test('a remembered function is called once for each text, unless it returns undefined or the text is long', () => {
  const asked: string[] = [];
  const of = (text: string) => {
    asked.push(text);
    return text === 'nothing' ? undefined : text.length > 3;
  };
  const known = remembering(of, { capacity: 10, longest: 10 });
  const texts = ['abc', 'abcd', 'nothing', 'x'.repeat(11)];
  const answers = [false, true, undefined, true];
  expect(texts.map(known)).toEqual(answers);
  expect(texts.map(known)).toEqual(answers);
  expect(asked).toEqual([...texts, 'nothing', 'x'.repeat(11)]);
});

test('remembering a part of a long text does not keep the whole in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const known = remembering((text) => text, { capacity: 1000, longest: 50 });
  const before = held();
  // The loop runs twice: the second time many texts are found in the older generation.
  for (let n = 0; n < 1600; n += 1) {
    const line = Buffer.alloc(100_000, `the end of a line, number ${n % 800},`).toString();
    known(line.slice(-50));
  }
  expect(held() - before).toBeLessThan(20_000_000);
  expect(known('none of these')).toBe('none of these');
});
