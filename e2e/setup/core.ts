/** `npm run test:core`: the suites that need no real part, no root and no browser. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PARTS } from './parts.ts';
import { programsNamed } from './programs-named.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const programs = PARTS.map(({ program }) => program);

/** Jest's `--filter`: of the suites that there are, by absolute path, those that run. */
function core(paths: readonly string[]): { filtered: string[] } {
  return { filtered: paths.filter((path) => isCore(relative(root, path))) };
}

/** What stands in e2e starts servers as processes, which takes its time. */
const isCore = (suite: string) =>
  !suite.startsWith('e2e/') && programsNamed([suite], programs).size === 0;

// Jest requires it.
export { core as 'module.exports' };
