/** `npm run test:fast`: the unit tests that need no program, none of our servers as a process, and little time. */
import { globSync, readFileSync } from 'node:fs';
import { jest } from './configuration.ts';
import { needsOf } from './needs.ts';

const suites = globSync('{authz-server,resource-server,shared}/**/*.test.ts', {
  cwd: jest.rootDir,
});

/** Matches the line of a suite that takes more than a second of CPU time, and has fewer than 20 cases for each. */
const SLOW = /^\/\*\* @slow \*\/$/m;

/** Integration tests start a server in each suite. */
const isFast = (suite: string) =>
  !suite.includes('/integration/') &&
  needsOf([suite]).size === 0 &&
  !SLOW.test(readFileSync(`${jest.rootDir}${suite}`, 'utf8'));

export default {
  ...jest,
  testMatch: suites.filter(isFast).map((suite) => `<rootDir>/${suite}`),
};
