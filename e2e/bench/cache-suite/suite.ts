import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The public tests of HTTP caches, http-tests/cache-tests. */
export interface Suite {
  readonly folder: string;
  /** The commit of a checkout, or the version of the npm package. */
  readonly version: string;
}

/** The suite in a checkout, or the development dependency, which is older and lacks the `cdn-*` tests. */
export function suiteAt(checkout?: string): Suite {
  if (checkout === undefined) {
    const manifest = createRequire(import.meta.url).resolve('http-cache-tests/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    return { folder: dirname(manifest), version: `http-cache-tests ${version} of npm` };
  }
  const folder = resolve(checkout);
  const head = ['-C', folder, 'rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', head, { encoding: 'utf8' }).trim();
  return { folder, version: `commit ${commit}` };
}

/** Returns the exports of a module of the suite. Later versions have client and server in folders. */
export async function importOf(folder: string, file: string): Promise<Record<string, unknown>> {
  const later = join(folder, 'test-engine', file);
  const path = existsSync(later) ? later : join(folder, file);
  return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
}
