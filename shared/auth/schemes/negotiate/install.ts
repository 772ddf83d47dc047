/**
 * `npm run kerberos`: builds the native module that Negotiate needs, from source, against the headers of the running
 * Node. It fetches only npm packages (by the lock file in `module/`) and Debian packages. If the module is already
 * built, it does nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { command, installParts, type Installable } from './debian.ts';

const PARTS: readonly Installable[] = [
  { check: 'test -e /usr/include/gssapi/gssapi_krb5.h', packages: ['libkrb5-dev'] },
  { check: command('g++'), packages: ['g++'] },
  { check: command('make'), packages: ['make'] },
  { check: command('python3'), packages: ['python3'] },
];

/** Milliseconds. */
const PATIENCE = 600_000;

const folder = fileURLToPath(new URL('module/', import.meta.url));
const require = createRequire(folder);

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** True if the pinned release is installed and can be loaded. */
function isBuilt(): boolean {
  const { dependencies } = require('./package.json') as Manifest;
  try {
    require('kerberos');
    return (require('kerberos/package.json') as Manifest).version === dependencies['kerberos'];
  } catch {
    return false;
  }
}

function build(): void {
  const node = dirname(dirname(process.execPath));
  if (!existsSync(join(node, 'include/node/node_api.h'))) {
    throw new Error(`${process.execPath} has no headers: run this with the Node of npm scripts`);
  }
  const settings = ['npm_config_build_from_source=true', `npm_config_nodedir=${node}`];
  const npm = ['npm', 'ci', '--prefix', folder, '--no-audit', '--no-fund'];
  const { status } = spawnSync('env', [...settings, ...npm], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ci ended with ${status}`);
  if (!isBuilt()) throw new Error('the module is built, but cannot be loaded');
}

try {
  // Only one build runs at a time, even if several test runs start together; the system releases the lock when the
  // process ends.
  using lock = new DatabaseSync(join(folder, '.lock'), { timeout: PATIENCE });
  lock.exec('BEGIN EXCLUSIVE');
  installParts(PARTS);
  if (!isBuilt()) build();
  process.stdout.write('The native module of Negotiate is there.\n');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
