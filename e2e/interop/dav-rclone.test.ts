/** @needs rclone */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { program, succeed } from './dav/program.ts';
import { ALICE, JASON } from './site.ts';

/** Debian's rclone 1.60, which supports Basic only and sends it without a challenge. */
const FILES = 200;
const NAMES = [
  'with spaces.txt',
  'ümläut ß 日本.txt',
  '100% and %41.txt',
  'a#b?c&d=e+f.txt',
  `"double" 'single' \`back\`.txt`,
  'semi;colon,comma[1](2)!$@~.txt',
];

let site: DavSite;
let source: string;

beforeAll(async () => {
  site = await startDavSite();
  source = join(site.home, 'source');
  await mkdir(join(source, 'sub folder', 'ö'), { recursive: true });
  const files: (readonly [string, string | Buffer])[] = [
    ...Array.from({ length: FILES }, (_, i) => [`file-${i}.txt`, `content ${i}`] as const),
    ...NAMES.map((name) => [`sub folder/ö/${name}`, name] as const),
    ['big.bin', randomBytes(20 * 1024 * 1024)],
    ['empty.txt', ''],
  ];
  await Promise.all(files.map(([name, content]) => writeFile(join(source, name), content)));
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Environment variables with the settings of the remote `dav`. */
async function remote(url: string, { name, password } = ALICE): Promise<NodeJS.ProcessEnv> {
  const obscured = await succeed('rclone', ['obscure', password], { home: site.home });
  return {
    RCLONE_CONFIG_DAV_TYPE: 'webdav',
    RCLONE_CONFIG_DAV_URL: url,
    RCLONE_CONFIG_DAV_VENDOR: 'other',
    RCLONE_CONFIG_DAV_USER: name,
    RCLONE_CONFIG_DAV_PASS: obscured.trim(),
  };
}

async function rclone(...args: readonly string[]): Promise<string> {
  return succeed('rclone', args, { home: site.home, env: await remote(site.url) });
}

interface Listed {
  readonly Path: string;
  readonly Size: number;
  readonly IsDir: boolean;
}

async function listed(path: string): Promise<readonly Listed[]> {
  const args = ['--recursive', '--no-modtime', '--no-mimetype', path];
  return JSON.parse(await rclone('lsjson', ...args)) as Listed[];
}

describe('rclone', () => {
  test('RFC 4918 section 9.7: copy sends 200 files, unusual names, and 20 MiB', async () => {
    const passed = await site.recorded(() => rclone('copy', 'source', 'dav:up'));
    const answers = [...new Set(passed.map(({ method, status }) => `${method} ${status}`))];
    expect(passed.every(({ asked }) => asked.authorization?.startsWith('Basic '))).toBe(true);
    // rclone creates each folder several times at once (section 9.3.1). It gets 405 if the folder exists,
    // and 409 if the folder around it does not exist yet.
    const made = ['MKCOL 201', 'MKCOL 405', 'PROPFIND 207', 'PROPFIND 404', 'PUT 201'];
    expect(answers.filter((answer) => answer !== 'MKCOL 409').toSorted()).toEqual(made);
  });

  test('check --download finds all files equal', async () => {
    const checked = await program('rclone', ['check', '--download', 'source', 'dav:up'], {
      home: site.home,
      env: await remote(site.url),
    });
    expect(checked.code).toBe(0);
    expect(checked.errors).toContain(`${FILES + NAMES.length + 2} matching files`);
  });

  test('lsjson lists all names with their sizes', async () => {
    const all = await listed('dav:up');
    expect(all.filter(({ IsDir }) => IsDir).map(({ Path }) => Path)).toEqual([
      'sub folder',
      'sub folder/ö',
    ]);
    const sizes = new Map(all.map(({ Path, Size }) => [Path, Size]));
    expect(sizes.get('big.bin')).toBe(20 * 1024 * 1024);
    expect(sizes.get('empty.txt')).toBe(0);
    for (const name of NAMES) {
      expect([name, sizes.get(`sub folder/ö/${name}`)]).toEqual([name, Buffer.byteLength(name)]);
    }
  });

  test('sync removes missing files, replaces changed files, and changes nothing else', async () => {
    await rm(join(source, 'file-1.txt'));
    await writeFile(join(source, 'file-2.txt'), 'another content, of another length');
    const passed = await site.recorded(() => rclone('sync', 'source', 'dav:up'));
    const changes = passed.filter(({ method }) => ['PUT', 'DELETE'].includes(method));
    expect(changes.map(({ method, target, status }) => [method, target, status])).toEqual(
      expect.arrayContaining([
        ['PUT', '/dav/up/file-2.txt', 204],
        ['DELETE', '/dav/up/file-1.txt', 204],
      ]),
    );
    expect(changes).toHaveLength(2);
    expect(await rclone('cat', 'dav:up/file-2.txt')).toBe('another content, of another length');
  });

  test('RFC 4918 section 9.9: moves a folder with one MOVE and an absolute Destination', async () => {
    const before = await listed('dav:up');
    const passed = await site.recorded(() => rclone('move', 'dav:up', 'dav:moved to'));
    const moves = passed.filter(({ method }) => method === 'MOVE');
    expect(moves).toMatchObject([
      { status: 201, asked: { destination: `${site.url}moved%20to/` }, target: '/dav/up/' },
    ]);
    expect((await rclone('lsf', 'dav:')).trim()).toBe('moved to/');
    expect(await listed('dav:moved to')).toEqual(before);
  });

  test('copies and moves unusual names one by one', async () => {
    for (const name of NAMES) {
      await rclone('copyto', `dav:moved to/sub folder/ö/${name}`, `dav:one/${name}`);
      await rclone('moveto', `dav:one/${name}`, `dav:two/${name}`);
      expect(await rclone('cat', `dav:two/${name}`)).toBe(name);
    }
    expect(await listed('dav:one')).toEqual([]);
  });

  test('runs deletefile, dedupe, rmdir and purge', async () => {
    await rclone('deletefile', 'dav:moved to/file-5.txt');
    await rclone('dedupe', '--dedupe-mode', 'skip', 'dav:moved to');
    const names = (await listed('dav:moved to')).map(({ Path }) => Path);
    expect(names).not.toContain('file-5.txt');
    expect(names.filter((name) => name.startsWith('file-'))).toHaveLength(FILES - 2);
    await rclone('rmdir', 'dav:one');
    await rclone('purge', 'dav:two');
    expect((await rclone('lsf', 'dav:')).trim()).toBe('moved to/');
  });

  test('RFC 9110 section 14.2: reads a range of 20 MiB', async () => {
    const passed = await site.recorded(() =>
      rclone('cat', '--offset', '1000', '--count', '10', 'dav:moved to/big.bin'),
    );
    expect(passed).toContainEqual(expect.objectContaining({ method: 'GET', status: 206 }));
  });

  test('RFC 4331: about shows used and free space', async () => {
    const { used, free, total } = JSON.parse(await rclone('about', '--json', 'dav:')) as Record<
      'used' | 'free' | 'total',
      number
    >;
    expect(used).toBeGreaterThan(20 * 1024 * 1024);
    expect(total).toBe(used + free);
  });

  test('uses HTTP/2 over TLS, and finds the same tree', async () => {
    const env = { ...(await remote(site.tlsUrl)), SSL_CERT_FILE: site.certificate };
    await succeed('rclone', ['copy', 'source', 'dav:tls'], { home: site.home, env });
    await succeed('rclone', ['check', '--download', 'source', 'dav:tls'], { home: site.home, env });
    expect(await rclone('cat', `dav:tls/sub folder/ö/${NAMES[0]}`)).toBe(NAMES[0]);
    const { errors } = await program('rclone', ['-vv', '--dump', 'headers', 'lsf', 'dav:tls'], {
      home: site.home,
      env,
    });
    expect(errors).toContain('HTTP/2.0 207');
  });

  test('stops without the certificate', async () => {
    const env = await remote(site.tlsUrl);
    const { code, errors } = await program('rclone', ['--retries', '1', 'lsf', 'dav:refused'], {
      home: site.home,
      env,
    });
    expect(code).not.toBe(0);
    expect(errors).toMatch(/x509|certificate/);
    expect(site.served().filter(({ path }) => path.includes('refused'))).toEqual([]);
  });

  test("RFC 7617 section 2: stores nothing with another person's password", async () => {
    const env = await remote(site.url, { ...ALICE, password: JASON.password });
    const args = ['--retries', '1', '--low-level-retries', '1', 'copy', 'source', 'dav:intruder'];
    const passed = await site.recorded(async () => {
      expect((await program('rclone', args, { home: site.home, env })).code).not.toBe(0);
    });
    expect(new Set(passed.map(({ status }) => status))).toEqual(new Set([401]));
    expect(await rclone('lsf', 'dav:')).not.toContain('intruder');
  });

  test('shows another person another tree at the same address', async () => {
    const env = await remote(site.url, JASON);
    expect(await succeed('rclone', ['lsf', 'dav:'], { home: site.home, env })).toBe('');
  });
});
