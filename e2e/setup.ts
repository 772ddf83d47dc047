/** Runs once before all tests: what some of them start or load has to be there. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { command, installParts, type Part } from '#shared/kerberos/debian.ts';

const python = (module: string) => `/usr/bin/python3 -c "import ${module}"`;

const parts: readonly Part[] = [
  { check: command('redis-server'), packages: ['redis-server'] },
  { check: command('redis-cli'), packages: ['redis-tools'] },
  { check: command('redis-sentinel'), packages: ['redis-sentinel'] },
  { check: command('nginx'), packages: ['nginx-light'] },
  { check: command('haproxy'), packages: ['haproxy'] },
  { check: command('caddy'), packages: ['caddy'] },
  { check: command('curl'), packages: ['curl'] },
  { check: command('wget'), packages: ['wget'] },
  { check: command('openssl'), packages: ['openssl'] },
  { check: command('chromium'), packages: ['chromium'] },
  { check: command('oidc-agent'), packages: ['oidc-agent-cli'] },
  { check: command('litmus'), packages: ['litmus'] },
  { check: command('cadaver'), packages: ['cadaver'] },
  { check: command('rclone'), packages: ['rclone'] },
  { check: command('mount.davfs'), packages: ['davfs2'] },
  { check: command('gio'), packages: ['libglib2.0-bin'] },
  { check: 'test -x /usr/libexec/gvfsd-dav', packages: ['gvfs-backends'] },
  { check: command('dbus-run-session'), packages: ['dbus'] },
  { check: command('gsasl'), packages: ['gsasl'] },
  { check: command('krb5kdc'), packages: ['krb5-kdc'] },
  { check: command('kadmin.local'), packages: ['krb5-admin-server'] },
  { check: command('kinit'), packages: ['krb5-user'] },
  { check: python('authlib, requests'), packages: ['python3-authlib', 'python3-requests'] },
  { check: python('requests_kerberos'), packages: ['python3-requests-kerberos'] },
  { check: python('httpx'), packages: ['python3-httpx'] },
];

/**
 * Builds and installs what is missing on Debian as root; elsewhere rejects with what to install. What
 * comes from npm is first: packages of Debian bring certificates that may replace those npm was given.
 */
export default async function setup(): Promise<void> {
  const script = fileURLToPath(new URL('../shared/kerberos/install.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], {
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  installParts(parts);
}
