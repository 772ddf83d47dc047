/** `npm run test:fast`: the suites outside e2e that need no program, and none of our servers as a process. */
import { globSync } from 'node:fs';
import { jest } from './configuration.ts';
import { needsOf } from './needs.ts';

const suites = globSync('{authz-server,resource-server,shared}/**/*.test.ts', {
  cwd: jest.rootDir,
});

export default {
  ...jest,
  testMatch: suites
    .filter((suite) => needsOf([suite]).size === 0)
    .map((suite) => `<rootDir>/${suite}`),
};
