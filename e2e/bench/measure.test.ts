import { expect, test } from '@jest/globals';
import { compare, type Contender } from './measure.ts';

const SERVER = { url: '', pids: [process.pid], [Symbol.asyncDispose]: async () => {} };

/** A contender with this many answers per second, which records the length of each run. */
function contender(name: string, perSecond: number, more: Partial<Contender> = {}) {
  const runs: number[] = [];
  const one: Contender = {
    name,
    server: SERVER,
    probe: async () => {},
    prepare: async (seconds) => async () => {
      runs.push(seconds);
      return { count: perSecond * seconds, seconds, errors: 1 };
    },
    ...more,
  };
  return { one, runs };
}

const SCHEDULE = { rounds: 2, seconds: 2, warmUp: { count: 1000, seconds: 5 } };
const silent = () => {};

test('the warm-up ends after a number of requests or seconds, and is not counted', async () => {
  const [fast, slow] = [contender('fast', 400), contender('slow', 10)];
  const measured = await compare([fast.one, slow.one], silent, SCHEDULE);
  expect(fast.runs).toEqual([1, 1, 1, 2, 2]);
  expect(slow.runs).toEqual([1, 1, 1, 1, 1, 2, 2]);
  expect(measured.map(({ count, errors }) => [count, errors])).toEqual([
    [1600, 5],
    [40, 7],
  ]);
});

test('each worker is warmed up', async () => {
  const { one, runs } = contender('two', 400, { server: { ...SERVER, workers: 2 } });
  await compare([one], silent, SCHEDULE);
  expect(runs).toEqual([1, 1, 1, 1, 1, 2, 2]);
});

test('a precompiled server is warm after one second', async () => {
  const { one, runs } = contender('native', 10, { server: { ...SERVER, native: true } });
  await compare([one], silent, SCHEDULE);
  expect(runs).toEqual([1, 2, 2]);
});

test.each<[string, Partial<Contender>]>([
  ['does not answer as it has to', { probe: () => Promise.reject(new Error('wrong')) }],
  ['cannot be asked', { prepare: () => Promise.reject(new Error('wrong')) }],
])('if a server %s, only its own line fails, with the reason', async (_, broken) => {
  const [good, bad] = [contender('good', 400), contender('bad', 400, broken)];
  const both = [bad.one, good.one];
  await expect(compare(both, silent, SCHEDULE)).rejects.toThrow('wrong');
  const told: string[] = [];
  const measured = await compare(both, silent, SCHEDULE, ({ name }, error) => {
    told.push(`${name}: ${String(error)}`);
  });
  expect(told).toEqual(['bad: Error: wrong']);
  expect(measured.map(({ name }) => name)).toEqual(['good']);
});

test('a contender without any answer is not measured', async () => {
  await expect(compare([contender('idle', 0).one], silent, SCHEDULE)).rejects.toThrow(
    'idle did nothing',
  );
});

test('the CPU time of a store is told beside, for who uses one', async () => {
  const busy: Contender['prepare'] = async (seconds) => async () => {
    const end = performance.now() + 50;
    while (performance.now() < end);
    return { count: 10, seconds, errors: 0 };
  };
  const server = { ...SERVER, store: [process.pid] };
  const on = contender('on a store', 1, { server, prepare: busy });
  const off = contender('alone', 1, { prepare: busy });
  const [stored, alone] = await compare([on.one, off.one], silent, SCHEDULE);
  expect(stored?.store).toBe(stored?.cpu);
  expect(alone).not.toHaveProperty('store');
});
