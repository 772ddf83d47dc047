/** `npm run test:fast`: the unit tests that need no program, and none of our servers as a process. */
import { globSync } from 'node:fs';
import { jest } from './configuration.ts';
import { needsOf } from './needs.ts';

const suites = globSync('{authz-server,resource-server,shared}/**/*.test.ts', {
  cwd: jest.rootDir,
});

/** Integration tests start a server in each suite. */
const isFast = (suite: string) => !suite.includes('/integration/') && needsOf([suite]).size === 0;

export default {
  ...jest,
  testMatch: suites.filter(isFast).map((suite) => `<rootDir>/${suite}`),
};
