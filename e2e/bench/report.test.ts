import { expect, test } from '@jest/globals';
import type { Measured } from './measure.ts';
import { comparison, format } from './report.ts';

const measured = (name: string, cpu: number): Measured => ({
  name,
  cpu,
  least: cpu - 1,
  most: cpu + 1,
  rate: 1000.4,
  memory: 3 * 1024 ** 2,
  count: 10,
  errors: 0,
});

test("a row's ratio compares with the first row: half the CPU time is twice the requests", () => {
  const { rows } = comparison('t', [measured('base', 100), measured('ours', 50)]);
  expect(rows.map(({ ratio }) => ratio)).toEqual([1, 2]);
  expect(rows.map((row) => row['req/s/core'])).toEqual([10_000, 20_000]);
});

test('only loads with latencies have latency columns', () => {
  const base = measured('base', 100);
  const latency = { p50: 1.234, p99: 5.678 };
  expect(comparison('t', [{ ...base, latency }]).rows[0]).toMatchObject({ 'p99 ms': 5.68 });
  expect(Object.keys(comparison('t', [base]).rows[0] ?? {})).toEqual([
    'server',
    'cpu us/req',
    'least..most',
    'req/s/core',
    'ratio',
    'wall req/s',
    'peak MiB',
    'count',
    'errors',
  ]);
});

test('columns are aligned', () => {
  const rows = [
    { server: 'a', n: 1 },
    { server: 'long', n: 1000 },
  ];
  expect(
    format({ tables: [{ title: 'T', rows }], notes: ['note'], errors: 0 }).split('\n'),
  ).toEqual(['T', 'server     n', '------------', 'a          1', 'long    1000', '', 'note', '']);
});
