/** @needs mount.davfs */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, closeSync, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../parts/process.ts';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { program, succeed } from './dav/program.ts';
import { curl } from './programs.ts';
import { ALICE, JASON } from './site.ts';

/** Debian's davfs2 mounts a folder and locks files during writes. Only root can mount in a test. */
const obstacle = obstacleToMounting();

function obstacleToMounting(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may mount';
  try {
    accessSync('/dev/fuse');
  } catch {
    return 'there is no /dev/fuse';
  }
  return mountsFuse() ? undefined : 'root may not mount here';
}

/** Mounts a folder that no process serves, as mount.davfs does, to see whether mounting works. */
function mountsFuse(): boolean {
  const empty = mkdtempSync(join(tmpdir(), 'countersign-'));
  const device = openSync('/dev/fuse', 'r+');
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0';
  const { status } = spawnSync(
    'mount',
    ['--internal-only', '--types', 'fuse', '--options', options, 'none', empty],
    { stdio: ['ignore', 'ignore', 'ignore', device] },
  );
  if (status === 0) spawnSync('umount', ['--lazy', empty]);
  closeSync(device);
  rmdirSync(empty);
  return status === 0;
}

let site: DavSite;
let folder: string;

beforeAll(async () => {
  site = await startDavSite();
  folder = join(site.home, 'folder');
  await mkdir(folder);
  const cache = join(site.home, 'cache');
  await mkdir(cache);
  // mount.davfs drops its rights and runs as a member of this group.
  const group = await succeed('id', ['--group', 'davfs2'], { home: site.home });
  if (process.getuid?.() === 0) await chown(cache, 0, Number(group));
  await chmod(cache, 0o770);
  await chmod(site.home, 0o755);
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Returns the arguments of mount.davfs, for a configuration file without the person's own settings. */
async function settings(url: string, { name, password } = ALICE): Promise<readonly string[]> {
  const secrets = join(site.home, 'secrets');
  await writeFile(secrets, `${url} ${name} "${password}"\n`, { mode: 0o600 });
  const lines = [
    `secrets ${secrets}`,
    `cache_dir ${join(site.home, 'cache')}`,
    `trust_server_cert ${site.certificate}`,
    // Since Linux 6.16, davfs2 cannot read folders with its default of 16 (davfs2#22).
    'buf_size 64',
    // Uploads are not delayed, so that the server has a file once it is closed.
    'delay_upload 0',
    'file_refresh 0',
    'dir_refresh 0',
  ];
  const conf = join(site.home, 'davfs2.conf');
  await writeFile(conf, `${lines.join('\n')}\n`);
  return [url, folder, '-o', `conf=${conf}`];
}

const asAlice = ['--digest', '--user', `${ALICE.name}:${ALICE.password}`];

/** The current content of a resource at the server, and the status of the last answer. */
async function get(path: string) {
  const { statuses, body } = await curl(...asAlice, `${site.url}${path}`);
  return { status: statuses.at(-1), body };
}

async function put(path: string): Promise<number | undefined> {
  const { statuses } = await curl(
    ...asAlice,
    '--request',
    'PUT',
    '--data',
    'x',
    `${site.url}${path}`,
  );
  return statuses.at(-1);
}

const mounting = obstacle === undefined ? 'mounted' : `not mounted, for ${obstacle}`;

describe(`davfs2, ${mounting}`, () => {
  if (obstacle !== undefined) {
    test('mount.davfs names the obstacle', async () => {
      const { code, errors } = await program('mount.davfs', await settings(site.url), {
        home: site.home,
      });
      expect(code).not.toBe(0);
      expect(errors).toMatch(/^mount\.davfs: /m);
    });
    return;
  }

  const unmount = () => succeed('umount', [folder], { home: site.home });
  const mount = async (url: string) =>
    succeed('mount.davfs', await settings(url), { home: site.home });
  afterEach(async () => {
    await program('umount', [folder], { home: site.home });
  });

  test('a written file is on the server once it is closed, and is still there after another mount', async () => {
    const big = randomBytes(5 * 1024 * 1024);
    await mount(site.url);
    await mkdir(join(folder, 'sub ö'));
    await writeFile(join(folder, 'sub ö', 'name 100% #1?.txt'), 'hello');
    await writeFile(join(folder, 'big.bin'), big);
    await rename(join(folder, 'sub ö', 'name 100% #1?.txt'), join(folder, 'moved.txt'));
    await unmount();
    expect(await get('moved.txt')).toEqual({ status: 200, body: 'hello' });
    expect((await get('sub%20%C3%B6/name%20100%25%20%231%3F.txt')).status).toBe(404);

    await mount(site.url);
    expect((await readdir(folder)).toSorted()).toEqual([
      'big.bin',
      'lost+found',
      'moved.txt',
      'sub ö',
    ]);
    expect((await readFile(join(folder, 'big.bin'))).equals(big)).toBe(true);
    await writeFile(join(folder, 'moved.txt'), ', again', { flag: 'a' });
    expect(await readFile(join(folder, 'moved.txt'), 'utf8')).toBe('hello, again');
    await rm(join(folder, 'big.bin'));
    await rm(join(folder, 'sub ö'), { recursive: true });
    await unmount();
    expect((await get('moved.txt')).body).toBe('hello, again');
    expect((await get('big.bin')).status).toBe(404);
    expect((await get('sub%20%C3%B6/')).status).toBe(404);
  });

  test('recorded: davfs2 sends OPTIONS without credentials, then PROPFIND with Digest', async () => {
    const passed = await site.recorded(async () => {
      await mount(site.url);
      await readdir(folder);
    });
    expect(passed[0]).toMatchObject({ method: 'OPTIONS', status: 204 });
    expect(passed[0]?.asked.authorization).toBeUndefined();
    expect(passed[0]?.answered['dav']).toBe('1, 2, 3');
    expect(passed[1]).toMatchObject({ method: 'PROPFIND', status: 401 });
    expect(passed[2]).toMatchObject({ method: 'PROPFIND', status: 207 });
    expect(passed[2]?.asked.authorization).toMatch(/^Digest /);
  });

  test('recorded: LOCK of a missing resource creates it (201) and names the token (opencloud#2861, dav4rack#30)', async () => {
    const passed = await site.recorded(async () => {
      await mount(site.url);
      await writeFile(join(folder, 'new.txt'), 'new');
      await unmount();
    });
    const changes = passed.filter(({ target }) => target === '/dav/new.txt');
    expect(changes.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'LOCK 201',
      'HEAD 200',
      'PUT 204',
      'UNLOCK 204',
    ]);
    const [locked, head, stored, unlocked] = changes;
    const token = String(locked?.answered['lock-token']);
    expect(token).toMatch(/^<urn:uuid:[-\da-f]{36}>$/);
    // RFC 9110 section 8.8.3: the entity tag is strong and quoted, because davfs2 caches by it
    // (pimcore#3398).
    expect(head?.answered.etag).toMatch(/^"[^"]+"$/);
    // RFC 4918 section 10.4: a write sends its token in If (opencloud reva#233).
    expect(stored?.asked['if']).toContain(`(${token})`);
    expect(stored?.asked['lock-token']).toBeUndefined();
    expect(unlocked?.asked['lock-token']).toBe(token);
  });

  test('RFC 4918 section 7: while a file is open for writing, other clients get 423 and can still read', async () => {
    await mount(site.url);
    await writeFile(join(folder, 'open.txt'), 'before');
    await until(async () => (await put('open.txt')) === 204);
    const file = await open(join(folder, 'open.txt'), 'r+');
    await file.write('during');
    expect(await put('open.txt')).toBe(423);
    expect((await get('open.txt')).status).toBe(200);
    await file.close();
    await until(async () => (await put('open.txt')) === 204);
  });

  test('a file that another client has locked is not overwritten', async () => {
    await put('theirs.txt');
    const lock = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;
    const fields = ['--header', 'Content-Type: application/xml', '--data', lock];
    const asked = [...asAlice, '--request', 'LOCK', ...fields, `${site.url}theirs.txt`];
    const { statuses } = await curl(...asked);
    expect(statuses.at(-1)).toBe(200);
    await mount(site.url);
    await expect(writeFile(join(folder, 'theirs.txt'), 'mine')).rejects.toThrow();
    expect((await get('theirs.txt')).body).toBe('x');
  });

  test('RFC 4331: df shows the quota', async () => {
    await mount(site.url);
    const columns = ['--output=size,used,avail', '--block-size=1', folder];
    const output = await succeed('df', columns, { home: site.home });
    const [, line = ''] = output.trim().split('\n');
    const [size = 0, used = 0, available = 0] = line.trim().split(/ +/).map(Number);
    expect(used + available).toBe(size);
    // The size of /dav/ is 10 GiB, rounded to davfs2's blocks.
    expect(Math.abs(size - 10 * 1024 ** 3)).toBeLessThan(1024 * 1024);
  });

  test("it mounts over TLS with the server's own certificate", async () => {
    await mount(site.tlsUrl);
    await writeFile(join(folder, 'over-tls.txt'), 'hidden');
    expect((await stat(join(folder, 'over-tls.txt'))).size).toBe(6);
    await unmount();
    expect((await get('over-tls.txt')).body).toBe('hidden');
    await site.hasServed('LOCK', '/dav/over-tls.txt', 201);
  });

  test('without the right to mount, it asks the server first and then names the missing right', async () => {
    const less = ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin', 'mount.davfs'];
    const line = [...less, ...(await settings(site.url))];
    const passed = await site.recorded(async () => {
      const { code, errors } = await program('setpriv', line, { home: site.home });
      expect(code).toBe(1);
      expect(errors).toContain('mounting failed: Operation not permitted');
    });
    expect(passed.at(-1)).toMatchObject({ method: 'PROPFIND', status: 207 });
  });

  test("with another person's password, mounting fails", async () => {
    const line = await settings(site.url, { ...ALICE, password: JASON.password });
    const { code, errors } = await program('mount.davfs', line, { home: site.home });
    expect(code).not.toBe(0);
    expect(errors).toMatch(/authenticat|credentials|401/i);
  });
});
