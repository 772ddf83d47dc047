/** Which suites there are, which of jest's projects each is in, and what all projects have in common. */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PARTS } from './parts.ts';
import { programsNamed } from './programs-named.ts';

const rootDir = fileURLToPath(new URL('../../', import.meta.url));
const suites = globSync('{authz-server,resource-server,shared,e2e}/**/*.test.ts', { cwd: rootDir });
const programs = PARTS.map(({ program }) => program);

const core = new Set(
  suites.filter(
    (suite) => !suite.startsWith('e2e/') && programsNamed([suite], programs).size === 0,
  ),
);

/** True for suites that start no servers as processes, unlike those in e2e. */
export const isCore = (suite: string) => core.has(suite);

/** True for suites of the benchmarks, which run by themselves. */
export const isBench = (suite: string) => suite.startsWith('e2e/bench/');

/** A project of jest with all suites of which `has` is true, by path from the top. */
export const project = (displayName: string, has: (suite: string) => boolean) => ({
  displayName,
  rootDir,
  testMatch: suites.filter(has).map((suite) => `<rootDir>/${suite}`),
  setupFiles: ['<rootDir>/e2e/setup/known-node.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: { '\\.ts$': '<rootDir>/e2e/setup/strip-types.ts' },
});
