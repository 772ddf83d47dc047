/** Runs once before the tests: all programs that the selected suites declare must be installed. */
import '../parts/compiled.ts';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installParts } from '#shared/auth/schemes/negotiate/debian.ts';
import { bundled } from './bundled.ts';
import { KDC, PARTS } from './parts.ts';
import { installOlderNodes } from './older-nodes.ts';
import { needsOf, OLDER_NODES, OURS } from './needs.ts';
import { selected } from './selected.ts';
import { MEMORY, roomInMemory } from '../parts/temporary-folder.ts';

/**
 * Builds and installs missing parts on Debian as root; otherwise rejects with what to install. npm packages
 * are first: Debian packages contain certificates that may replace those given to npm.
 */
export default async function setup(): Promise<void> {
  const needs = needsOf(selected);
  if (needs.has(KDC)) buildKerberos();
  if (needs.has(OLDER_NODES)) await installOlderNodes();
  installParts(PARTS.filter(({ program }) => needs.has(program)));
  if (needs.has(OURS)) process.env['BUNDLE_UNDER_TEST'] = await bundled();
  // A killed process's writes survive in memory as on a disk, but only a disk makes the process wait.
  if (await roomInMemory()) process.env['TMPDIR'] = MEMORY;
}

function buildKerberos(): void {
  const script = fileURLToPath(
    new URL('../../shared/auth/schemes/negotiate/install.ts', import.meta.url),
  );
  const { status, stderr } = spawnSync(process.execPath, [script], {
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}
