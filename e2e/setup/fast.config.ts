/** `npm run test:fast`: fast unit tests without other programs and without our servers as processes. */
import { globSync, readFileSync } from 'node:fs';
import { jest } from './configuration.ts';
import { needsOf } from './needs.ts';

const suites = globSync('{authz-server,resource-server,shared}/**/*.test.ts', {
  cwd: jest.rootDir,
});

/** Matches the mark of a suite that takes more than a second of CPU time per 20 cases. */
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
