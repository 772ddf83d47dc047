import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROOMS = ['shared', 'authz-server', 'resource-server'];

/**
 * The code of the servers, the package and the command line as [path, text]; `tests` includes their tests.
 */
export function sources(tests = false): readonly (readonly [path: string, text: string])[] {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...ROOMS], options)
    .trim()
    .split('\n')
    .filter(
      (path) => /\.[jt]s$/.test(path) && (tests || !/\.(?:test|fixture)\.|\/contract\//.test(path)),
    )
    .map((path) => [path, readFileSync(`${ROOT}${path}`, 'utf8')]);
}
