/** Runs once before all tests: the programs of Debian that some of them start have to be there. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

interface Part {
  /** Shell command that succeeds when the part is there. */
  readonly check: string;
  /** Debian packages that bring it. */
  readonly packages: readonly string[];
}

const command = (name: string) => `PATH=$PATH:/usr/sbin command -v ${name}`;

const parts: readonly Part[] = [
  { check: command('redis-server'), packages: ['redis-server'] },
  { check: command('redis-cli'), packages: ['redis-tools'] },
  { check: command('redis-sentinel'), packages: ['redis-sentinel'] },
  { check: command('nginx'), packages: ['nginx-light'] },
  { check: command('haproxy'), packages: ['haproxy'] },
  { check: command('caddy'), packages: ['caddy'] },
  { check: command('curl'), packages: ['curl'] },
  { check: command('openssl'), packages: ['openssl'] },
  { check: command('chromium'), packages: ['chromium'] },
  { check: command('oidc-agent'), packages: ['oidc-agent-cli'] },
  {
    check: '/usr/bin/python3 -c "import authlib, requests"',
    packages: ['python3', 'python3-authlib', 'python3-requests'],
  },
];

/** Debian asks this file whether a service of a new package may start; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Installs what is missing on Debian as root; elsewhere rejects with what to install. */
export default async function setup(): Promise<void> {
  const missing = packagesMissing();
  if (missing.length === 0) return;
  const install = `apt-get install --yes --no-install-recommends ${missing.join(' ')}`;
  if (process.getuid?.() !== 0 || !isDebian()) {
    throw new Error(`The tests start programs that are missing here; on Debian: sudo ${install}`);
  }
  process.stdout.write(`\nInstalling what the tests start: ${missing.join(' ')} ...\n`);
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    run('apt-get update');
    run(install);
  } finally {
    if (ours) rmSync(POLICY);
  }
  const still = packagesMissing();
  if (still.length > 0) throw new Error(`Installed, but not found: ${still.join(' ')}`);
  process.stdout.write('Installed.\n');
}

function packagesMissing(): readonly string[] {
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
  const { status, stderr } = spawnSync('sh', ['-c', line], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${line} ended with ${status}: ${stderr}`);
}
