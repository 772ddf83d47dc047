import { describe, expect, test } from '@jest/globals';
import { ensureKeys } from '#shared/keys/signing-key-lifecycle.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withKeys } from '../stores/with-keys.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

interface Listed {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
}

async function shellWithKeys() {
  const shell = new TestShell(await newData());
  await withKeys(shell, 'keys', (life) => ensureKeys(life, ['ES256', 'RS256']));
  await withKeys(shell, 'gatewayKeys', (life) => ensureKeys(life, ['ES256']));
  return shell;
}

const list = async (shell: TestShell, ...options: string[]) =>
  (await json(shell, 'signing-keys', 'list', ...options)) as Listed[];

describe('signing-keys rotate', () => {
  test('publishes a key, signs with it after the overlap, and retires the old key after the longest token lifetime', async () => {
    const shell = await shellWithKeys();
    const states = async () =>
      (await list(shell)).filter(({ alg }) => alg === 'ES256').map(({ state }) => state);
    const { stdout } = await inProcess(shell, 'signing-keys', 'rotate');
    expect(stdout).toMatch(/^Published the ES256 key \S+ It signs from /);
    expect(await states()).toEqual(['signing', 'published']);
    shell.clock.advance(360);
    expect(await states()).toEqual(['retiring', 'signing']);
    shell.clock.advance(605);
    expect(await states()).toEqual(['retired', 'signing']);
  });

  test('refuses a second rotation in progress: exit code 1', async () => {
    const shell = await shellWithKeys();
    await json(shell, 'signing-keys', 'rotate', '--alg', 'RS256');
    const { code, stderr } = await inProcess(shell, 'signing-keys', 'rotate', '--alg', 'RS256');
    expect([code, stderr]).toEqual([1, expect.stringContaining('under way')]);
  });

  test('--compromised revokes and replaces the signing key at once', async () => {
    const shell = await shellWithKeys();
    const old = (await list(shell)).find(({ alg }) => alg === 'ES256')?.kid;
    const result = await json(shell, 'signing-keys', 'rotate', '--compromised');
    expect(result).toMatchObject({ ended: old, alg: 'ES256' });
    const now = (await list(shell)).filter(({ alg }) => alg === 'ES256');
    expect(now).toEqual([{ kid: (result as Listed).kid, alg: 'ES256', state: 'signing' }]);
    await withStores(shell, async ({ revocations }) => {
      await revocations.epoch(true);
      await using feed = await revocations.feed();
      expect(feed.status().entries).toBe(1);
    });
  });

  test('--compromised KID revokes exactly that key', async () => {
    const shell = await shellWithKeys();
    const kid = (await list(shell)).find(({ alg }) => alg === 'RS256')?.kid ?? '';
    const { code } = await inProcess(shell, 'signing-keys', 'rotate', '--compromised', '--', kid);
    expect(code).toBe(0);
    const left = await list(shell);
    expect(left.map((key) => key.kid)).not.toContain(kid);
    expect(left.map(({ alg, state }) => `${alg} ${state}`).toSorted()).toEqual([
      'ES256 signing',
      'RS256 signing',
    ]);
  });

  test.each([
    [['a-kid'], 2, 'KID is for a compromised key only'],
    [['a-kid', '--compromised', '--alg', 'ES256'], 2, 'not both'],
    [['--alg', 'HS256'], 2, '--alg must be'],
    [['--alg', 'EdDSA'], 1, 'no EdDSA key'],
    [['--compromised', '--alg', 'EdDSA'], 1, 'no EdDSA key'],
    [['--compromised', 'nobody'], 1, 'there is no key nobody'],
  ])('%j is refused, and no key changes', async (args, code, message) => {
    const shell = await shellWithKeys();
    const before = await list(shell);
    expect(await inProcess(shell, 'signing-keys', 'rotate', ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
    expect(await list(shell)).toEqual(before);
  });
});

describe('the option --gateway', () => {
  const GATEWAY = '--gateway';

  test("rotates the gateway's key, retires it after its last statement, and leaves the keys of tokens", async () => {
    const shell = await shellWithKeys();
    const before = await list(shell);
    const states = async () => (await list(shell, GATEWAY)).map(({ state }) => state);
    await json(shell, 'signing-keys', 'rotate', GATEWAY);
    expect(await states()).toEqual(['signing', 'published']);
    shell.clock.advance(360);
    expect(await states()).toEqual(['retiring', 'signing']);
    shell.clock.advance(64.999);
    expect(await states()).toEqual(['retiring', 'signing']);
    shell.clock.advance(0.001);
    expect(await states()).toEqual(['retired', 'signing']);
    expect(await list(shell)).toEqual(before);
  });

  test("--compromised replaces the gateway's key at once, and refuses the kid of a token key", async () => {
    const shell = await shellWithKeys();
    const [tokens, [old]] = [await list(shell), await list(shell, GATEWAY)];
    const end = ['signing-keys', 'rotate', GATEWAY, '--compromised'];
    const refused = await inProcess(shell, ...end, '--', tokens[0]?.kid ?? '');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('no key')]);
    const { stdout } = await inProcess(shell, ...end);
    expect(stdout).toMatch(`The key ${old?.kid} is published no more.`);
    const now = await list(shell, GATEWAY);
    expect(now).toEqual([{ kid: expect.any(String), alg: 'ES256', state: 'signing' }]);
    expect(now[0]?.kid).not.toBe(old?.kid);
    expect(await list(shell)).toEqual(tokens);
  });
});

test.each([[[]], [['--gateway']]])('signing-keys list %j shows no private key', async (options) => {
  const shell = await shellWithKeys();
  const { stdout } = await inProcess(shell, 'signing-keys', 'list', '--json', ...options);
  expect(stdout).toContain('"signing"');
  expect(stdout).not.toMatch(/sealed|"d"/);
});
