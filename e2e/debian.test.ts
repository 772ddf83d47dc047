/** @needs mmdebstrap systemd-analyze */
/** @slow */
import { execFile } from 'node:child_process';
import { cp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { packDebian } from './pack-debian.ts';
import { packProduct } from './pack-product.ts';
import { freePort } from './parts/free-port.ts';
import { startProcess } from './parts/process.ts';
import { temporaryFolder } from './parts/temporary-folder.ts';

const run = promisify(execFile);
const UNIT = 'usr/lib/systemd/system/countersign.service';
const CONFIGURATION = 'etc/countersign/countersign.json';
const PATH = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };

/** Runs a command in the installation, with its devices and the processes of this machine. */
const INSIDE = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$@"';

const parts = new AsyncDisposableStack();
let root: string;
beforeAll(async () => {
  const folder = parts.use(await temporaryFolder('/var/tmp'));
  root = join(folder.path, 'root');
  // The package needs no apt here.
  const system = ['--variant=essential', '--include=libatomic1,libstdc++6,passwd'];
  // This installation need not outlive a power cut.
  const fast = ['--dpkgopt=force-unsafe-io', '--dpkgopt=path-exclude=/usr/share/locale/*'];
  await run('mmdebstrap', ['--quiet', ...system, ...fast, 'bookworm', root]);
});
// Jest gives each step as much time as a test.
let tarball: string;
beforeAll(() => {
  tarball = packProduct(join(root, 'packed'));
});
beforeAll(async () => {
  await cp(packDebian(tarball, join(root, 'packed')), join(root, 'countersign.deb'));
});
afterAll(() => parts.disposeAsync());

const inside = (...command: readonly string[]) => run('chroot', [root, ...command], { env: PATH });

/** Returns what the unit says of a setting, once for each line. */
async function ofUnit(setting: string): Promise<readonly string[]> {
  const unit = await readFile(join(root, UNIT), 'utf8');
  return [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

/** The arguments of `unshare` with which systemd's user runs a command in the installation. */
async function asService(command: string): Promise<readonly string[]> {
  const [user = ''] = await ofUnit('User');
  const variables = await ofUnit('Environment');
  const chroot = [`--userspec=${user}:${user}`, root, 'env', '-i', ...variables];
  return ['--mount', 'sh', '-ec', INSIDE, root, ...chroot, 'sh', '-c', `umask 0077; ${command}`];
}

async function modeOf(path: string): Promise<string> {
  const { mode } = await stat(join(root, path));
  return (mode & 0o777).toString(8);
}

test('the package installs a user, a private data folder, a secret and a unit that systemd accepts', async () => {
  await inside('dpkg', '-i', '/countersign.deb');
  const { stdout: user } = await inside('getent', 'passwd', 'countersign');
  expect(user).toContain(':/var/lib/countersign:/usr/sbin/nologin');
  expect(await modeOf('var/lib/countersign')).toBe('700');
  expect(await modeOf('etc/countersign/secret')).toBe('400');
  expect(await modeOf(CONFIGURATION)).toBe('640');
  expect((await readFile(join(root, 'etc/countersign/secret'), 'utf8')).length).toBe(45);
  expect((await inside('countersign', '--version')).stdout).toMatch(/^countersign \d/);
  const [started] = await ofUnit('ExecStart');
  expect(started).toBe('/usr/bin/countersign start');
  const { stderr } = await run('systemd-analyze', ['verify', '--man=no', join(root, UNIT)]).catch(
    (error: { readonly stderr: string }) => error,
  );
  // The program is in the installation alone.
  expect(stderr.replaceAll(/^.*Command \/usr\/bin\/countersign is not executable.*\n/gm, '')).toBe(
    '',
  );
});

test('the unit starts both servers as its user, and commands use the same store', async () => {
  const [authz, resource] = await Promise.all([freePort(), freePort()]);
  const settings = {
    issuer: `http://localhost:${authz}`,
    resource: `http://localhost:${resource}`,
    listen: {
      authz: { port: authz },
      resource: { port: resource },
      ...Object.fromEntries(
        ['authzTls', 'resourceTls', 'proxy'].map((name) => [name, { port: 0 }]),
      ),
    },
  };
  await writeFile(join(root, CONFIGURATION), JSON.stringify(settings));
  const [start = ''] = await ofUnit('ExecStart');
  await using service = await startProcess('unshare', await asService(`exec ${start}`), {
    env: { PATH: process.env['PATH'] },
    ready: (output) => output.includes('ready.'),
  });
  for (const port of [authz, resource]) {
    const { status } = await fetch(`http://localhost:${port}/health/ready`);
    expect(status).toBe(200);
  }
  const { stdout } = await run('unshare', await asService('countersign user list --json'));
  expect(stdout).toContain('"name":"demo"');
  // A command of root makes no file that the service cannot read.
  await run(
    'unshare',
    ['--mount', 'sh', '-ec', INSIDE, root, root, 'countersign', 'user', 'list'],
    {
      env: PATH,
    },
  );
  const { stdout: ofRoot } = await inside('find', '/var/lib/countersign', '-user', 'root');
  expect(ofRoot).toBe('');
  service.signal('SIGTERM');
  await service.exited();
  expect(service.exitCode).toBe(0);
});

test('removal keeps the configuration, the secret and the data; purging ends them', async () => {
  const there = async () => {
    const paths = ['usr/lib/countersign', UNIT, CONFIGURATION, 'etc/countersign/secret'];
    const found = [...paths, 'var/lib/countersign/state.db'].map(async (path) =>
      stat(join(root, path)).then(
        () => path,
        () => undefined,
      ),
    );
    return (await Promise.all(found)).filter((path) => path !== undefined);
  };
  expect(await there()).toHaveLength(5);
  await inside('dpkg', '-r', 'countersign');
  expect(await there()).toEqual([
    CONFIGURATION,
    'etc/countersign/secret',
    'var/lib/countersign/state.db',
  ]);
  await inside('dpkg', '-P', 'countersign');
  expect(await there()).toEqual([]);
});
