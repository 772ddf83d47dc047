import { expect, test } from '@jest/globals';
import { failure, lineOf } from './line.ts';
import type { Measured } from './measure.ts';
import { plus, times } from './work.ts';

const measured = (name: string, cpu: number): Measured => ({
  name,
  cpu,
  least: cpu - 1,
  most: cpu + 1,
  rate: 1000,
  memory: 3 * 1024 ** 2,
  latency: { p50: 1.234, p99: 9 },
  count: 10,
  errors: 1,
});
const standing = {
  own: measured('ours', 50),
  beside: measured('node:http', 20),
  goal: times(2.1),
  atOnce: 32,
  alone: 0.5,
  errors: 2,
};

test('ratio and goal are both how many times what stands beside', () => {
  expect(lineOf('a work', 'SQLite', standing)).toMatchObject({
    work: 'a work',
    way: 'SQLite',
    'cpu us': 50,
    'least..most': '49.0..51.0',
    ratio: 2.5,
    goal: 2.1,
    beside: 'node:http',
    'beside us': 20,
    'p50 ms': 1.23,
    'p50 of one': 0.5,
    'peak MiB': 3,
    errors: 3,
    note: '',
  });
  expect(lineOf('a', 'b', { ...standing, goal: plus(10) })).toMatchObject({ goal: 1.5 });
});

test('without what stands beside there is no ratio and no goal, and that is said', () => {
  const line = lineOf('a', 'b', { ...standing, beside: undefined });
  expect(line).toMatchObject({ ratio: '', goal: '', note: 'what it stands beside failed' });
});

test('a failed work has a line with the same columns, says why in one line and counts as an error', () => {
  const line = failure('a', 'b', new Error('no\nmore'));
  expect(Object.keys(line)).toEqual(Object.keys(lineOf('a', 'b', standing)));
  expect(line).toMatchObject({ work: 'a', way: 'b', errors: 1, note: 'no more' });
});
