/** Installs the older versions of Node that tests of the package for APIs start, by the lock file in `nodes/`. */
import { execFileSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../bundle.ts';
import { NODES } from '../parts/older-nodes.ts';
import { kept } from './kept.ts';

const FILES = ['package.json', 'package-lock.json'].map((name) =>
  join(ROOT, 'e2e/setup/nodes', name),
);

export async function installOlderNodes(): Promise<void> {
  await kept(NODES, async (folder) => {
    process.stdout.write('\nInstalling older versions of Node from npm ...\n');
    await cp(join(ROOT, 'e2e/setup/nodes'), folder, { recursive: true });
    // All versions have a program of the same name.
    const options = ['--no-bin-links', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['ci', ...options], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return FILES;
  });
}
