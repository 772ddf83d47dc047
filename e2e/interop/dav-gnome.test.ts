/** @needs dbus-run-session */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { succeed } from './dav/program.ts';
import { ALICE, JASON } from './site.ts';

/**
 * GNOME's gvfs 1.50 on libsoup 3, which is behind Files (Nautilus): the tests run `gio` in a session bus.
 */
let site: DavSite;
let session: string;

beforeAll(async () => {
  site = await startDavSite();
  session = join(site.home, 'session');
  await mkdir(session, { mode: 0o700 });
  await writeFile(join(site.home, 'a.txt'), 'hello\n');
});
afterAll(async () => site[Symbol.asyncDispose]());

interface Said {
  readonly code: number;
  readonly output: string;
}

/** Separates the outputs of the commands. */
const MARK = '--ended with ';

/** Runs shell commands in one session, and resolves to the output of each. */
async function gnome(...lines: readonly string[]): Promise<readonly Said[]> {
  const script = lines.map((line) => `{ ${line}\n} 2>&1; echo "${MARK}$?"`).join('\n');
  const output = await succeed('dbus-run-session', ['--', 'sh', '-c', script], {
    home: site.home,
    env: {
      XDG_RUNTIME_DIR: session,
      GVFS_DISABLE_FUSE: '1',
      // Discs, phones and cameras are irrelevant here.
      GIO_USE_VOLUME_MONITOR: 'unix',
      GVFS_REMOTE_VOLUME_MONITOR_IGNORE: '1',
    },
  });
  const said: Said[] = [];
  let soFar = '';
  for (const line of output.split('\n')) {
    if (line.startsWith(MARK)) {
      said.push({ output: soFar, code: Number(line.slice(MARK.length)) });
      soFar = '';
    } else soFar += `${line}\n`;
  }
  return said;
}

/** Mounts, with a person's answers at the terminal, one line each. */
const mount = (url: string, ...answers: readonly string[]) =>
  `printf '%s\\n' ${answers.map((answer) => `'${answer}'`).join(' ')} | timeout 30 gio mount '${url}'`;

const address = () => site.url.replace('http:', 'dav:');
const asAlice = () => mount(address(), ALICE.name, ALICE.password);

const codes = (said: readonly Said[]) => said.map(({ code }) => code);

describe('gvfs', () => {
  test('mounts, copies, lists, shows, renames, moves and removes', async () => {
    const dav = address();
    const said = await gnome(
      asAlice(),
      `gio copy a.txt '${dav}name%20with%20%C3%BC%20%23.txt'`,
      `gio mkdir '${dav}sub'`,
      `gio move '${dav}name%20with%20%C3%BC%20%23.txt' '${dav}sub/moved.txt'`,
      `gio rename '${dav}sub/moved.txt' 'renamed ß.txt'`,
      `gio list -l '${dav}sub'`,
      `gio copy '${dav}sub/renamed%20%C3%9F.txt' back.txt`,
      `gio info '${dav}sub/renamed%20%C3%9F.txt'`,
      `gio remove '${dav}sub/renamed%20%C3%9F.txt'`,
      `gio remove '${dav}sub'`,
      `gio list '${dav}'`,
      `gio mount --unmount '${dav}'`,
    );
    expect(codes(said)).toEqual(Array(12).fill(0));
    const [, , , , , listed, , info, , , empty] = said.map(({ output }) => output);
    expect(listed).toBe('renamed ß.txt\t6\t(regular)\n');
    expect(await readFile(join(site.home, 'back.txt'), 'utf8')).toBe('hello\n');
    expect(info).toMatch(/standard::content-type: text\/plain/);
    // RFC 9110 section 8.8.3: an entity tag is quoted, and GNOME compares strong tags only.
    expect(info).toMatch(/etag::value: "[^"]+"/);
    expect(empty).toBe('');
  });

  test('RFC 4331: shows the free space', async () => {
    const [, said] = await gnome(asAlice(), `gio info --filesystem '${address()}'`);
    expect(said?.output).toContain('filesystem::size: 10737418240');
    expect(said?.output).toContain('filesystem::type: webdav');
  });

  test('recorded: asks for each folder above its mount, and stops at the first 405 (nextcloud#48602)', async () => {
    const passed = await site.recorded(async () => {
      expect(codes(await gnome(asAlice()))).toEqual([0]);
    });
    const steps = passed.map(({ method, target, status }) => `${method} ${target} ${status}`);
    expect(steps.slice(0, 5)).toEqual([
      'OPTIONS /dav 204',
      'PROPFIND /dav 401',
      'PROPFIND /dav 207',
      'OPTIONS / 204',
      'PROPFIND / 405',
    ]);
    expect(passed[0]?.asked.authorization).toBeUndefined();
    expect(passed[4]?.answered.allow).toBe('GET, HEAD, OPTIONS');
  });

  test('mounts a folder within the tree, too, and finds the folders above it', async () => {
    const dav = address();
    const deep = mount(`${dav}one/two/`, ALICE.name, ALICE.password);
    const made = await gnome(asAlice(), `gio mkdir '${dav}one'`, `gio mkdir '${dav}one/two'`);
    expect(codes(made)).toEqual([0, 0, 0]);
    const passed = await site.recorded(async () => {
      const [mounted, listed] = await gnome(deep, `gio list '${dav}one'`);
      expect([mounted?.code, listed?.output]).toEqual([0, 'two\n']);
    });
    const found = passed.filter(({ method, status }) => method === 'PROPFIND' && status !== 401);
    expect(found.map(({ target, status }) => `${target} ${status}`)).toEqual([
      '/dav/one/two 207',
      '/dav/one/ 207',
      '/dav/ 207',
      '/ 405',
      '/dav/one/ 207',
    ]);
  });

  test('does not overwrite a file that changed meanwhile (RFC 9110 section 13.1.1)', async () => {
    const dav = address();
    const passed = await site.recorded(async () => {
      const said = await gnome(
        asAlice(),
        `gio copy a.txt '${dav}tagged.txt'`,
        `gio save --etag='"of-long-ago"' '${dav}tagged.txt' < a.txt`,
        `gio save --etag="$(gio info '${dav}tagged.txt' | sed -n 's/.*etag::value: //p')" '${dav}tagged.txt' < a.txt`,
      );
      expect(codes(said)).toEqual([0, 0, 2, 0]);
    });
    const saved = passed.filter(({ asked }) => asked['if-match'] !== undefined);
    const steps = saved.map(({ method, status }) => `${method} ${status}`);
    expect(steps).toEqual(['HEAD 412', 'HEAD 200', 'PUT 204']);
  });

  test('mounts over TLS once a person accepts the certificate', async () => {
    const secure = site.tlsUrl.replace('https:', 'davs:');
    const [mounted, copied, listed] = await gnome(
      mount(secure, '1', ALICE.name, ALICE.password),
      `gio copy a.txt '${secure}over-tls.txt'`,
      `gio list '${secure}'`,
    );
    expect(mounted?.output).toContain('Identity: Countersign (development)');
    expect([mounted?.code, copied?.code]).toEqual([0, 0]);
    expect(listed?.output).toContain('over-tls.txt');
    await site.hasServed('PUT', '/dav/over-tls.txt', 201);
  });

  test("mounts nothing with another person's password", async () => {
    const [mounted, listed] = await gnome(
      mount(address(), ALICE.name, JASON.password),
      `gio list '${address()}'`,
    );
    expect(mounted?.code).not.toBe(0);
    expect(listed?.output).toContain('not mounted');
  });
});
