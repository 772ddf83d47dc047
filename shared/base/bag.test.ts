/** @slow */
import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Bag, type Placed } from './bag.ts';

test('a bag has the same entries as a Set, in any order of additions and removals', () => {
  const step = fc.record({ entry: fc.nat({ max: 9 }), comes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const entries: readonly Placed[] = Array.from({ length: 10 }, () => ({ place: -1 }));
      const [bag, set] = [new Bag(), new Set<Placed>()];
      for (const { entry, comes } of steps) {
        const one = entries[entry]!;
        if (!comes) expect(bag.delete(one)).toBe(set.delete(one));
        else if (!set.has(one)) bag.add(set.add(one) && one);
        expect(bag.size).toBe(set.size);
        expect(new Set(bag.toArray())).toEqual(set);
      }
    }),
  );
});

test('removing an entry of another bag leaves it there', () => {
  const [one, other] = [new Bag(), new Bag()];
  const entry = { place: -1 };
  one.add({ place: -1 });
  other.add(entry);
  expect(one.delete(entry)).toBe(false);
  expect(other.delete(entry)).toBe(true);
});

test('removed entries of a bag are collected with young garbage, while those of a Set grow old', () => {
  const file = new URL('bag.fixture.ts', import.meta.url).pathname;
  const flags = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning'];
  const said = execFileSync(process.execPath, [...flags, file], { encoding: 'utf8' });
  const { bag, set } = JSON.parse(said) as { bag: number; set: number };
  expect(bag).toBeLessThan(set / 4);
});
