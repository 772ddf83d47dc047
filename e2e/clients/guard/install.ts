import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../bundle.ts';
import { packResource } from '../../pack-resource.ts';

const run = promisify(execFile);

/** Installs the tarball into an empty folder, and adds further packages. Resolves to the tarball. */
export async function installResource(
  folder: string,
  packages: readonly string[],
): Promise<string> {
  const tarball = packResource(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const quietly = ['--offline', '--no-audit', '--no-fund', '--silent'];
  await run('npm', ['install', ...quietly, tarball], { cwd: folder });
  await linkPackages(folder, packages);
  return tarball;
}

/** Links packages that `npm ci` has installed into the folder. */
export async function linkPackages(folder: string, packages: readonly string[]): Promise<void> {
  for (const name of packages) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
}

/** Copies an example into the folder, so that it finds the installed packages. */
export async function copyExample(folder: string, name: string): Promise<string> {
  const copy = join(folder, name);
  await copyFile(new URL(name, import.meta.url), copy);
  return copy;
}
