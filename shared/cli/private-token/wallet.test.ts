import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { tokenInput } from '#shared/private-token/token.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { systemRandom } from '#shared/base/random.ts';
import { TestShell } from '../cli.fixture.ts';
import { openWallet } from './wallet.ts';

let shell: TestShell;
let path: string;
beforeEach(async () => {
  shell = new TestShell({ HOME: await temporaryFolder() });
  path = join(shell.env['HOME'] ?? '', '.config/countersign/private-tokens.json');
});

const token = (digest = 1) =>
  Buffer.concat([
    tokenInput(VOPRF, systemRandom(32), Buffer.alloc(32, digest), Buffer.alloc(32, 9)),
    Buffer.alloc(48),
  ]);
const any = () => true;

test('the oldest suitable token is returned once, and the file is private', async () => {
  const wallet = await openWallet(shell);
  const [a, b, c] = [token(1), token(2), token(1)];
  await wallet.put([a, b], undefined);
  await wallet.put([c], undefined);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);

  const forOne = wallet.take(({ challengeDigest }) => challengeDigest[0] === 1);
  expect(await forOne).toEqual(a);
  expect(await readFile(path, 'utf8')).not.toContain(a.toString('base64url'));
  expect(await wallet.take(({ challengeDigest }) => challengeDigest[0] === 3)).toBeUndefined();
  expect([await wallet.take(any), await wallet.take(any), await wallet.take(any)]).toEqual([
    b,
    c,
    undefined,
  ]);
});

test('fifty calls at once each get another token', async () => {
  const tokens = Array.from({ length: 20 }, () => token());
  await (await openWallet(shell)).put(tokens, undefined);
  const takeOne = async () => {
    const own = new TestShell(shell.env);
    own.wait = async (milliseconds) => setTimeout(milliseconds);
    return (await openWallet(own)).take(any);
  };
  const taken = await Promise.all(Array.from({ length: 50 }, takeOne));
  const names = taken.flatMap((bytes) => (bytes === undefined ? [] : [bytes.toString('hex')]));
  expect(names.toSorted()).toEqual(tokens.map((one) => one.toString('hex')).toSorted());
});

test('an expired token is not returned, and is deleted at the next change', async () => {
  const wallet = await openWallet(shell);
  await wallet.put([token()], shell.clock.now() + 1000);
  shell.clock.advance(1);
  expect(await wallet.take(any)).toBeUndefined();
  await wallet.put([], undefined);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ tokens: [] });
});

test('an empty wallet returns nothing and writes nothing', async () => {
  const wallet = await openWallet(shell);
  expect(await wallet.take(any)).toBeUndefined();
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('a wallet that cannot be replaced returns no token', async () => {
  const wallet = await openWallet(shell);
  await wallet.put([token()], undefined);
  const before = await readFile(path, 'utf8');
  const broken = await openWallet(
    Object.assign(new TestShell(shell.env), { random: () => Buffer.alloc(16) }),
  );
  await writeFile(`${path}.${Buffer.alloc(16).toString('base64url')}`, 'in the way');
  await expect(broken.take(any)).rejects.toThrow(`cannot write ${path}`);
  expect(await readFile(path, 'utf8')).toBe(before);
  expect(await readdir(dirname(path))).toContain('private-tokens.json');
});

describe('an invalid wallet file is refused before any request', () => {
  beforeEach(async () => (await openWallet(shell)).put([token()], undefined));

  test.each([0o644, 0o640, 0o604, 0o620, 0o602])(
    'with mode %i, which other users can read',
    async (mode) => {
      await chmod(path, mode);
      await expect(openWallet(shell)).rejects.toThrow(`chmod 600 ${path}`);
    },
  );

  test('with truncated content', async () => {
    await truncate(path, 99);
    await expect(openWallet(shell)).rejects.toThrow(`${path} does not hold tokens: delete it`);
  });

  const good = token();
  test.each([
    ['an empty file', ''],
    ['null', 'null'],
    ['a JSON array', '[]'],
    ['an object without tokens', '{}'],
    ['a token that is cut off', fileOf(good.subarray(0, -1))],
    ['a token with an octet behind it', fileOf(Buffer.concat([good, Buffer.of(0)]))],
    ['a token of an unknown type', fileOf(Buffer.concat([Buffer.of(9, 9), good.subarray(2)]))],
    ['an injected field', `{"tokens":[{"token":"x\\", realm=\\"\\r\\nCookie: a=b"}]}`],
    [
      'an end that is no time',
      JSON.stringify({ tokens: [{ token: good.toString('base64url'), expires_at: 'never' }] }),
    ],
  ])('%s', async (_, text) => {
    await writeFile(path, text);
    await expect(openWallet(shell)).rejects.toThrow('does not hold tokens');
  });

  test('with a folder in its place', async () => {
    const other = new TestShell({ HOME: await temporaryFolder() });
    const folder = join(other.env['HOME'] ?? '', '.config/countersign/private-tokens.json');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await expect(openWallet(other)).rejects.toThrow(folder);
  });
});

test('without a folder for the wallet the command says so', async () => {
  await expect(openWallet(new TestShell())).rejects.toThrow('set HOME');
});

function fileOf(bytes: Buffer): string {
  return JSON.stringify({ tokens: [{ token: bytes.toString('base64url') }] });
}
