import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { outcome, scoreOf } from './score.ts';
import { suiteAt } from './suite.ts';

const TESTS = [
  { id: 'stores' },
  { id: 'reuses', kind: 'optimal', depends_on: ['stores'] },
  { id: 'expires', depends_on: ['reuses'] },
  { id: 'shows', kind: 'check' },
  { id: 'browsers', kind: 'check' },
];
const score = (results: object) =>
  scoreOf(
    outcome.parse({ groups: [{ tests: TESTS.slice(0, 2) }, { tests: TESTS.slice(2) }], results }),
  );

test('passed tests are counted by kind, and tests that did not run are in no sum', () => {
  const all = { stores: true, reuses: true, expires: true, shows: ['Assertion', 'no'] };
  expect(score(all)).toEqual({
    of: { required: 2, optimal: 1, check: 1 },
    passed: { required: 2, optimal: 1, check: 0 },
    alone: 3,
    failing: [{ id: 'shows', kind: 'check', why: 'Assertion: no' }],
  });
});

test('a test that depends on a failed test did not pass, even over several steps', () => {
  const { passed, alone, failing } = score({
    stores: ['Setup', 'status is 502'],
    reuses: true,
    expires: true,
    shows: true,
  });
  expect(passed).toEqual({ required: 0, optimal: 0, check: 1 });
  expect(alone).toBe(3);
  expect(failing.map(({ id, why }) => [id, why])).toEqual([
    ['stores', 'Setup: status is 502'],
    ['reuses', 'depends on stores'],
    ['expires', 'depends on reuses'],
  ]);
});

test('the npm package has all imports of the runner, and its version', () => {
  const { folder, version } = suiteAt();
  const index = readFileSync(join(folder, 'tests/index.mjs'), 'utf8');
  expect(index).toContain('export default');
  expect(version).toMatch(/^http-cache-tests \d+\.\d+\.\d+ of npm$/);
});
