import { expect, test } from '@jest/globals';
import { failure, lineBeside, lineOf } from './line.ts';
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
  beside: {
    name: 'node:http',
    goal: times(2.1),
    found: { ...measured('node:http', 20), errors: 0 },
  },
  atOnce: 32,
  alone: 0.5,
  errors: 2,
};

test('ratio and goal are multiples of the cost of the server beside', () => {
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
  const beside = { ...standing.beside, goal: plus(10) };
  expect(lineOf('a', 'b', { ...standing, beside })).toMatchObject({ goal: 1.5 });
});

test('without a server beside there is no ratio and no goal, and the line says why', () => {
  const beside = { name: 'nginx', goal: times(4), found: new Error('it answered 500') };
  const line = lineOf('a', 'b', { ...standing, beside });
  expect(line).toMatchObject({ ratio: '', goal: '', errors: 4, note: 'nginx: it answered 500' });
});

test("the line for a further server has only the comparison, and that server's errors", () => {
  const beside = { name: 'nginx', goal: times(4), found: measured('nginx', 25) };
  expect(lineBeside('a', 'b', standing.own, beside)).toMatchObject({
    'cpu us': 50,
    ratio: 2,
    goal: 4,
    beside: 'nginx',
    'beside us': 25,
    'at once': '',
    errors: 1,
  });
});

test('a failed work has a line with the same columns and one line of reason, and is an error', () => {
  const line = failure('a', 'b', new Error('no\nmore'));
  expect(Object.keys(line)).toEqual(Object.keys(lineOf('a', 'b', standing)));
  expect(line).toMatchObject({ work: 'a', way: 'b', errors: 1, note: 'no more' });
});
