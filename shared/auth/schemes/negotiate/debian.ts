import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

export interface Installable {
  /** A shell command that succeeds if the part is installed. */
  readonly check: string;
  /** Debian packages that install the part. */
  readonly packages: readonly string[];
}

/** Returns a check for a program. */
export const command = (name: string) => `PATH=$PATH:/usr/sbin command -v ${name}`;

/** Debian runs this file to ask whether a service of a new package may start; exit code 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Installs missing parts on Debian as root; elsewhere throws an Error that lists the packages to install. */
export function installParts(parts: readonly Installable[]): void {
  const missing = packagesMissing(parts);
  if (missing.length === 0) return;
  const install = `apt-get install --yes --no-install-recommends ${missing.join(' ')}`;
  if (process.getuid?.() !== 0 || !isDebian()) {
    throw new Error(`Programs are missing here; on Debian: sudo ${install}`);
  }
  process.stdout.write(`\nInstalling what is missing here: ${missing.join(' ')} ...\n`);
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    run('apt-get update');
    // A new machine may be installing its updates, which holds the lock.
    run(`DEBIAN_FRONTEND=noninteractive ${install} --option DPkg::Lock::Timeout=300`);
  } finally {
    if (ours) rmSync(POLICY);
  }
  const still = packagesMissing(parts);
  if (still.length > 0) throw new Error(`Installed, but not found: ${still.join(' ')}`);
  process.stdout.write('Installed.\n');
}

function packagesMissing(parts: readonly Installable[]): readonly string[] {
  return parts.filter(({ check }) => !succeeds(check)).flatMap(({ packages }) => packages);
}

function succeeds(line: string): boolean {
  return spawnSync('sh', ['-c', line], { stdio: 'ignore' }).status === 0;
}

function isDebian(): boolean {
  const release = '/etc/os-release';
  return existsSync(release) && /^ID(_LIKE)?=.*debian/m.test(readFileSync(release, 'utf8'));
}

function run(line: string): void {
  const { status, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${line} ended with ${status}: ${stderr}`);
}
