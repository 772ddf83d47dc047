/** `--profile fapi2` in each command that makes or changes a client (FAPI 2.0 Security Profile, section 5.3.2). */
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const ES256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
  format: 'jwk',
});
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const CALLBACK = ['--redirect-uri', 'https://bank.example/callback'];
const NAME = ['--name', 'Bank', '--scope', 'openid documents:read'];
const BANK = [...NAME, '--grant', 'authorization_code', '--grant', 'refresh_token'];
const PROFILE = ['--profile', 'fapi2'];

async function newShell() {
  const shell = new TestShell(await newData());
  const keyFile = async (jwk: object) => {
    const file = `${shell.env['COUNTERSIGN_DATA']}.jwks`;
    await writeFile(file, JSON.stringify({ keys: [jwk] }));
    return ['--jwks', file];
  };
  return { shell, keyFile };
}

const EXPECTED = {
  token_endpoint_auth_method: 'private_key_jwt',
  id_token_signed_response_alg: 'ES256',
  profile: 'fapi2',
};

describe('client add --profile fapi2', () => {
  test('makes a client with keys whose ID tokens are signed with ES256', async () => {
    const { shell, keyFile } = await newShell();
    const args = [...BANK, ...CALLBACK, ...PROFILE, ...(await keyFile(ES256))];
    const added = (await json(shell, 'client', 'add', ...args)) as Record<string, string>;
    expect(Object.keys(added)).toEqual(['client_id']);
    const { client_id: id = '' } = added;
    expect(await withStores(shell, ({ clients }) => clients.get(id))).toMatchObject(EXPECTED);
    expect((await inProcess(shell, 'client', 'show', id)).stdout).toContain('profile: fapi2');
  });

  test.each<[string, readonly string[], string, object?]>([
    ['a public client', ['--public'], 'fapi2 is for clients that prove'],
    ['a secret', ['--auth', 'client_secret_basic'], 'give --auth private_key_jwt and --jwks'],
    ['a secret beside keys', ['--auth', 'client_secret_post'], 'private_key_jwt', ES256],
    ['no keys', [], 'give --auth private_key_jwt and --jwks'],
    ['a device', ['--grant', 'device_code'], 'leave out --grant device_code', ES256],
    ['no PKCE', ['--pkce', 'nonce'], '--pkce must be required with --profile fapi2', ES256],
    ['PKCE off', ['--pkce', 'off'], '--pkce must be required with --profile fapi2', ES256],
    ['RS256 for ID tokens', ['--id-token-alg', 'RS256'], '--id-token-alg must be ES256', ES256],
    ['http', ['--redirect-uri', 'http://localhost/cb'], 'http on loopback needs --native', ES256],
    ['an unknown profile', ['--profile', 'fapi1'], '--profile must be'],
  ])('%s: exit code 2, with a remedy', async (_what, more, told, ...[jwk]) => {
    const { shell, keyFile } = await newShell();
    const profile = more.includes('--profile') ? [] : PROFILE;
    const keys = jwk ? await keyFile(jwk) : [];
    const args = [...BANK, ...CALLBACK, ...profile, ...keys, ...more];
    const { code, stderr } = await inProcess(shell, 'client', 'add', ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  });

  test.each<[string, readonly string[], object]>([
    ['a native client on loopback', ['--native', '--redirect-uri', 'http://127.0.0.1/cb'], ES256],
    ['a key that PS256 can use', CALLBACK, RSA],
    ['PKCE', [...CALLBACK, '--pkce', 'required'], ES256],
  ])('is accepted with %s', async (_what, more, jwk) => {
    const { shell, keyFile } = await newShell();
    const args = [...BANK, ...PROFILE, ...(await keyFile(jwk)), ...more];
    expect(await inProcess(shell, 'client', 'add', ...args)).toMatchObject({ code: 0 });
  });

  test('refuses a key for RS256, and the key of a GNAP client', async () => {
    const { shell, keyFile } = await newShell();
    const add = (...args: readonly string[]) =>
      inProcess(shell, 'client', 'add', ...BANK, ...CALLBACK, ...PROFILE, ...args);
    const older = await add(...(await keyFile({ ...RSA, alg: 'RS256' })));
    expect([older.code, older.stderr]).toEqual([1, expect.stringContaining('a key for RS256')]);
    const file = `${shell.env['COUNTERSIGN_DATA']}.jwk`;
    await writeFile(file, JSON.stringify({ ...ES256, alg: 'ES256' }));
    const gnap = await add('--gnap-key', file);
    expect([gnap.code, gnap.stderr]).toEqual([2, expect.stringContaining('a client of GNAP')]);
  });

  test('refuses a space that takes no bound token, or signs its tokens with RS256', async () => {
    const { shell, keyFile } = await newShell();
    const url = 'https://api.example/';
    const config = `${shell.env['COUNTERSIGN_DATA']}.config`;
    const space = {
      url,
      realm: 'api',
      scopes: { safe: ['documents:read'], unsafe: [] },
      serves: 'verify',
    };
    const add = async (schemes: readonly string[], alg = 'ES256') => {
      await writeFile(config, JSON.stringify({ spaces: [{ ...space, schemes, alg }] }));
      const here = new TestShell({ ...shell.env, COUNTERSIGN_CONFIG: config });
      const args = [...BANK, ...CALLBACK, ...PROFILE, ...(await keyFile(ES256))];
      return inProcess(here, 'client', 'add', ...args, '--resource', url);
    };
    for (const wrong of [await add(['Bearer']), await add(['DPoP'], 'RS256')]) {
      const remedy = expect.stringContaining('add DPoP to its schemes');
      expect([wrong.code, wrong.stderr]).toEqual([2, remedy]);
    }
    expect(await add(['Bearer', 'DPoP'])).toMatchObject({ code: 0 });
  });

  test('is accepted for a machine', async () => {
    const { shell, keyFile } = await newShell();
    const machine = ['--name', 'M', '--grant', 'client_credentials', '--scope', 'documents:read'];
    const args = [...machine, ...PROFILE, ...(await keyFile(ES256))];
    expect(await inProcess(shell, 'client', 'add', ...args)).toMatchObject({ code: 0 });
  });
});

describe('client set', () => {
  test('sets the profile only if the client fits, and takes it away', async () => {
    const { shell, keyFile } = await newShell();
    const proof = ['--auth', 'private_key_jwt', ...(await keyFile(ES256))];
    const added = await json(shell, 'client', 'add', ...BANK, ...CALLBACK, ...proof);
    const { client_id: id } = added as { client_id: string };
    const set = (...args: readonly string[]) => inProcess(shell, 'client', 'set', id, ...args);
    const wrong = await set(...PROFILE);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('must be ES256')]);
    expect(await set(...PROFILE, '--id-token-alg', 'ES256')).toMatchObject({ code: 0 });
    for (const args of [
      ['--pkce', 'off'],
      ['--id-token-alg', 'RS256'],
      ['--redirect-uri', 'http://localhost/cb'],
    ]) {
      expect([args, (await set(...args)).code]).toEqual([args, 2]);
    }
    const older = await set(...(await keyFile({ ...RSA, alg: 'RS256' })));
    expect([older.code, older.stderr]).toEqual([1, expect.stringContaining('a key for RS256')]);
    expect(await json(shell, 'client', 'show', id)).toMatchObject(EXPECTED);
    expect(await set('--without', 'profile')).toMatchObject({ code: 0 });
    expect(await json(shell, 'client', 'show', id)).not.toHaveProperty('profile');
    expect(await set('--pkce', 'off', '--id-token-alg', 'RS256')).toMatchObject({ code: 0 });
  });

  test('refuses the profile for a client with a secret', async () => {
    const { shell } = await newShell();
    const added = await json(shell, 'client', 'add', ...BANK, ...CALLBACK);
    const { client_id: id } = added as { client_id: string };
    const args = [...PROFILE, '--id-token-alg', 'ES256'];
    const { code, stderr } = await inProcess(shell, 'client', 'set', id, ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--auth private_key_jwt')]);
  });
});

describe('apply', () => {
  const bank = {
    client_id: 'bank',
    client_name: 'Bank',
    grant_types: ['authorization_code'],
    redirect_uris: ['https://bank.example/callback'],
    scope: 'openid documents:read',
    profile: 'fapi2',
  };

  test('makes the client, and takes what export writes', async () => {
    const { shell } = await newShell();
    const file = `${shell.env['COUNTERSIGN_DATA']}.json`;
    const method = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [ES256] } };
    await writeFile(file, JSON.stringify({ clients: [{ ...bank, ...method }] }));
    expect(await inProcess(shell, 'apply', file)).toMatchObject({ code: 0 });
    expect(await json(shell, 'client', 'show', 'bank')).toMatchObject(EXPECTED);
    await json(shell, 'directory', 'export', `${file}.out`, '--declared');
    const { stdout } = await inProcess(shell, 'apply', `${file}.out`);
    expect(stdout).toBe('Nothing to change.\n');
  });

  test('names the members of the file in a refusal', async () => {
    const { shell } = await newShell();
    const file = `${shell.env['COUNTERSIGN_DATA']}.json`;
    await writeFile(file, JSON.stringify({ clients: [bank] }));
    const { code, stderr } = await inProcess(shell, 'apply', file);
    const remedy = 'give token_endpoint_auth_method private_key_jwt and jwks';
    expect([code, stderr]).toEqual([1, expect.stringContaining(remedy)]);
  });
});
