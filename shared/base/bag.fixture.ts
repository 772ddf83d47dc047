/**
 * Prints as JSON by how many octets old objects grow at most, while the same objects are added and removed in a Bag
 * and in a Set.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { Bag, type Placed } from './bag.ts';

interface Entry extends Placed {
  readonly held: readonly number[];
}

const MEMBERS = 500;
const AT_ONCE = 32;

/** Octets of old objects, dead or alive. */
const old = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  Number.NaN;

const entry = (n: number): Entry => ({ place: -1, held: Array.from({ length: MEMBERS }, () => n) });

function growthIn(all: Pick<Bag<Entry>, 'add' | 'delete'>): number {
  const inside = Array.from({ length: AT_ONCE }, (_, n) => entry(n));
  for (const one of inside) all.add(one);
  for (let n = 0; n < 50_000; n += 1) entry(n); // enough garbage to make all other objects old
  let [least, most] = [old(), 0];
  for (let n = 0; n < 20_000; n += 1) {
    const next = entry(n);
    all.add(next);
    all.delete(inside[n % AT_ONCE] as Entry);
    inside[n % AT_ONCE] = next;
    if (n % 100 > 0) continue;
    // V8 may collect old garbage at any time, so the least value is taken.
    least = Math.min(least, old());
    most = Math.max(most, old() - least);
  }
  return most;
}

const set = new Set<Entry>();
const ofSet = { add: (one: Entry) => void set.add(one), delete: (one: Entry) => set.delete(one) };
process.stdout.write(JSON.stringify({ bag: growthIn(new Bag()), set: growthIn(ofSet) }));
