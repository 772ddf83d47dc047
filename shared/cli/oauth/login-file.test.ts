import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { lockPrivate } from '../files/private-file.ts';
import type { Login } from './login.ts';
import { loginPath, readLogin, removeLogin, writeLogin } from './login-file.ts';
import { LOGIN } from './login.fixture.ts';

describe('XDG Base Directory Specification: the path of the login file', () => {
  test.each([
    [{ HOME: '/home/a' }, 'linux', '/home/a/.config/countersign/login.json'],
    [{ HOME: '/home/a', XDG_CONFIG_HOME: '/x' }, 'linux', '/x/countersign/login.json'],
    [{ HOME: '/home/a', XDG_CONFIG_HOME: 'x' }, 'linux', '/home/a/.config/countersign/login.json'],
    [{ HOME: '/home/a', XDG_CONFIG_HOME: '' }, 'darwin', '/home/a/.config/countersign/login.json'],
    [{ HOME: '' }, 'linux', undefined],
    [{}, 'linux', undefined],
    [{ HOME: '/home/a', APPDATA: '/roaming' }, 'win32', '/roaming/countersign/login.json'],
    [{ HOME: '/home/a' }, 'win32', undefined],
  ] as const)('%j on %s: %s', (env, platform, path) => {
    expect(loginPath(env, platform)).toBe(path);
  });
});

let path: string;
beforeEach(async () => {
  path = join(await temporaryFolder(), 'config', 'countersign', 'login.json');
});

const write = (login: Login) =>
  lockPrivate(path, { wait: async () => {} }, () => writeLogin(path, login, systemRandom));
const mode = async (file: string) => (await stat(file)).mode & 0o777;

test('a login is written and read, and file and folder are private', async () => {
  await write(LOGIN);
  expect(await readLogin(path)).toEqual(LOGIN);
  expect([await mode(path), await mode(dirname(path))]).toEqual([0o600, 0o700]);
});

test('a folder that cannot be made is an error', async () => {
  path = '/proc/x/login.json';
  await expect(write(LOGIN)).rejects.toThrow('cannot use the folder /proc/x: ENOENT');
});

test('an open folder is made private, and an open file is replaced by a private one', async () => {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await writeFile(path, '{}', { mode: 0o644 });
  await write(LOGIN);
  expect([await mode(path), await mode(dirname(path))]).toEqual([0o600, 0o700]);
});

test('a write replaces the file, not the target of a link, and leaves no temporary file', async () => {
  await mkdir(dirname(path), { recursive: true });
  const elsewhere = join(dirname(path), 'elsewhere');
  await writeFile(elsewhere, 'precious');
  await symlink(elsewhere, path);
  await write(LOGIN);
  expect(await readFile(elsewhere, 'utf8')).toBe('precious');
  expect(await readdir(dirname(path))).toEqual(['elsewhere', 'login.json', 'login.json.lock']);
});

test('a file that cannot be replaced is a failure, and leaves no temporary file', async () => {
  await mkdir(path, { recursive: true });
  await expect(write(LOGIN)).rejects.toThrow(`cannot write ${path}`);
  expect(await readdir(dirname(path))).toEqual(['login.json', 'login.json.lock']);
});

test('there is no login before the first write and after a removal', async () => {
  expect(await readLogin(path)).toBeUndefined();
  await write(LOGIN);
  await removeLogin(path);
  await removeLogin(path);
  expect(await readLogin(path)).toBeUndefined();
});

test.each([0o644, 0o640, 0o604, 0o660, 0o610])(
  'mode %i, which other users can read, is refused, and the message says what to do',
  async (open) => {
    await write(LOGIN);
    await chmod(path, open);
    await expect(readLogin(path)).rejects.toThrow(`chmod 600 ${path}`);
    await chmod(path, 0o400);
    expect(await readLogin(path)).toEqual(LOGIN);
  },
);

test.each([
  ['nothing', ''],
  ['half a file', JSON.stringify(LOGIN).slice(0, 99)],
  ['null', 'null'],
  ['a list', '[]'],
  ['no token', JSON.stringify({ ...LOGIN, access_token: undefined })],
  ['an issuer in clear elsewhere', JSON.stringify({ ...LOGIN, issuer: 'http://evil.example' })],
  ['a resource that is no URL', JSON.stringify({ ...LOGIN, resource: 'documents' })],
  [
    'a public key',
    JSON.stringify({ ...LOGIN, private_jwk: { ...LOGIN.private_jwk, d: undefined } }),
  ],
  ['another kind of key', JSON.stringify({ ...LOGIN, private_jwk: { kty: 'oct', k: 'AA' } })],
])('%s is not a login', async (_, text) => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
  await expect(readLogin(path)).rejects.toThrow(`${path} is not a login: delete it`);
});

test('a folder in place of the file is a failure, not a crash', async () => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await expect(readLogin(path)).rejects.toThrow(path);
});
