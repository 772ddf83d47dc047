import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { MOST_KEYS } from '#shared/people/key-purposes.ts';
import { readPublicKey } from '#shared/people/public-key.ts';
import { publicKeysIn } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const PASSWORD = 'correct horse battery staple';

interface Shown {
  readonly fingerprint: string;
}

/** A shell with alice and bob; `file` is the name of no existing file. */
async function newShell() {
  const shell = new TestShell(await newData());
  for (const name of ['alice', 'bob']) {
    shell.stdin = PASSWORD;
    await json(shell, 'user', 'add', name, '--password-stdin');
  }
  return { shell, file: `${shell.env['COUNTERSIGN_DATA']}.key` };
}

const stored = (shell: TestShell) => withStores(shell, publicKeysIn);

const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;

async function make(shell: TestShell, name: string, out: string) {
  return (await json(shell, 'user', 'key', 'add', name, '--out', out)) as Shown;
}

describe('user key add', () => {
  test('--out writes an Ed25519 key in PKCS #8 for its owner only, and stores the public key', async () => {
    const { shell, file } = await newShell();
    const shown = (await json(shell, 'user', 'key', 'add', 'Alice', '--out', file)) as Shown;
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const pem = await readFile(file, 'utf8');
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const privateKey = createPrivateKey(pem);
    expect(privateKey.asymmetricKeyType).toBe('ed25519');
    const key = readPublicKey(spki(createPublicKey(privateKey)), 'Concealed');
    const name = file.split('/').at(-1);
    expect(shown).toEqual({ fingerprint: key.id, person: 'alice', scheme: 'Concealed', name });
    expect(await stored(shell)).toEqual([
      {
        ...key,
        scheme: 'Concealed',
        owner: { kind: 'person', id: expect.any(String) },
        name,
        acr: 'urn:countersign:acr:second-factor',
        created_at: shell.clock.now(),
      },
    ]);
  });

  test.each([
    ['PEM', (key: KeyObject) => key.export({ format: 'pem', type: 'spki' })],
    ['DER', spki],
    ['a JWK', (key: KeyObject) => JSON.stringify(key.export({ format: 'jwk' }))],
  ])('--public-key: accepts %s', async (_, form) => {
    const { shell, file } = await newShell();
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    await writeFile(file, form(publicKey));
    const args = ['alice', '--public-key', file, '--name', 'Card', '--json'];
    const { stdout } = await inProcess(shell, 'user', 'key', 'add', ...args);
    const { id } = readPublicKey(spki(publicKey), 'Concealed');
    expect(JSON.parse(stdout)).toMatchObject({ fingerprint: id, name: 'Card' });
    expect(await stored(shell)).toMatchObject([{ id, name: 'Card' }]);
  });

  test('prints lines', async () => {
    const { shell, file } = await newShell();
    const { stdout } = await inProcess(shell, 'user', 'key', 'add', 'alice', '--out', file);
    expect(stdout).toMatch(/^fingerprint: [\w-]{43}\nperson: alice\nscheme: Concealed\nname: /);
  });

  test('RFC 7486: --scheme hoba makes an RSA key for one origin with TLS', async () => {
    const { shell, file } = await newShell();
    await writeFile(file, spki(rsa));
    const origin = 'https://localhost:3443';
    const args = ['alice', '--public-key', file, '--scheme', 'hoba', '--origin', origin];
    expect(await json(shell, 'user', 'key', 'add', ...args)).toMatchObject({
      scheme: 'HOBA',
      origin,
    });
    expect(await stored(shell)).toMatchObject([{ scheme: 'HOBA', origin }]);
    expect(await json(shell, 'user', 'key', 'list')).toMatchObject([{ origin }]);
  });

  test.each([
    ['neither file', [], 'give --public-key FILE, or --out FILE'],
    ['both files', ['--public-key', 'x', '--out', 'y'], 'give --public-key FILE, or --out FILE'],
    [
      'another scheme',
      ['--out', 'x', '--scheme', 'basic'],
      '--scheme must be one of concealed, hoba',
    ],
    [
      'an origin of Concealed',
      ['--out', 'x', '--origin', 'https://localhost:3443'],
      '--origin belongs',
    ],
    ['HOBA with a key to be made', ['--out', 'x', '--scheme', 'hoba'], 'give --public-key FILE'],
    [
      'HOBA without origin',
      ['--public-key', 'package.json', '--scheme', 'hoba'],
      'https://localhost:3443',
    ],
    [
      'HOBA in clear text',
      ['--public-key', 'package.json', '--scheme', 'hoba', '--origin', 'http://localhost:3001'],
      'one of TLS: https://localhost:3443',
    ],
    ['a name that cannot be read', ['--out', 'x', '--name', 'x\u001b[2J'], '--name must be'],
  ])('%s is wrong usage', async (_, args, message) => {
    const { shell } = await newShell();
    const ended = await inProcess(shell, 'user', 'key', 'add', 'alice', ...args);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([
      2,
      '',
      expect.stringContaining(message),
    ]);
    expect(await stored(shell)).toEqual([]);
  });

  test.each([
    ['a file', (file: string) => writeFile(file, 'mine')],
    ['a link to nowhere', (file: string) => symlink(`${file}.elsewhere`, file)],
  ])('--out: an existing %s is neither followed nor overwritten', async (_, prepare) => {
    const { shell, file } = await newShell();
    await prepare(file);
    const ended = await inProcess(shell, 'user', 'key', 'add', 'alice', '--out', file);
    expect([ended.code, ended.stderr]).toEqual([1, `${file} is there already: name another\n`]);
    expect(await readFile(file, 'utf8').catch(() => 'mine')).toBe('mine');
    expect(await stored(shell)).toEqual([]);
  });

  test('a private key, a key of another kind and a missing file: exit code 1 with the reason', async () => {
    const { shell, file } = await newShell();
    const refusal = async () => {
      const { code, stderr } = await inProcess(
        shell,
        'user',
        'key',
        'add',
        'alice',
        '--public-key',
        file,
      );
      return [code, stderr];
    };
    expect(await refusal()).toEqual([1, `cannot read ${file} (ENOENT)\n`]);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    await writeFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
    expect(await refusal()).toEqual([
      1,
      `${file} holds a private key: give its public part only\n`,
    ]);
    await writeFile(file, spki(publicKey));
    expect(await refusal()).toEqual([
      1,
      expect.stringContaining(
        `${file} is a key of type ec secp256k1; Concealed takes Ed25519, P-256`,
      ),
    ]);
    expect(await stored(shell)).toEqual([]);
  });

  test('a key that is in use for any purpose, and an unknown person: exit code 1', async () => {
    const { shell, file } = await newShell();
    await writeFile(file, spki(rsa));
    const args = ['--public-key', file];
    const { fingerprint } = (await json(shell, 'user', 'key', 'add', 'alice', ...args)) as Shown;
    const hoba = ['--scheme', 'hoba', '--origin', 'https://localhost:3443'];
    for (const asked of [
      ['bob', ...args],
      ['alice', ...args],
      ['bob', ...args, ...hoba],
    ]) {
      const { code, stderr } = await inProcess(shell, 'user', 'key', 'add', ...asked);
      expect([code, stderr]).toEqual([
        1,
        `the key ${fingerprint} is known already, and no key is used twice: make another\n`,
      ]);
    }
    const app = ['--application', 'App', '--concealed', ...args];
    expect((await inProcess(shell, 'key', 'add', ...app)).code).toBe(1);
    const nobody = await inProcess(shell, 'user', 'key', 'add', 'carol', '--out', `${file}.carol`);
    expect([nobody.code, nobody.stderr]).toEqual([1, 'there is no person carol\n']);
    await expect(stat(`${file}.carol`)).rejects.toThrow('ENOENT');
    expect(await stored(shell)).toHaveLength(1);
  });

  test('one key too many: exit code 1, and the new file is removed', async () => {
    const { shell, file } = await newShell();
    for (let n = 0; n < MOST_KEYS; n += 1) await make(shell, 'alice', `${file}${n}`);
    const { code, stderr } = await inProcess(shell, 'user', 'key', 'add', 'alice', '--out', file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('would be one too many')]);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await make(shell, 'bob', file);
  });
});

describe('user key list', () => {
  test('lists all keys, or the keys of one person, with their last use', async () => {
    const { shell, file } = await newShell();
    const now = shell.clock.now();
    const hers = await make(shell, 'alice', `${file}1`);
    const his = await make(shell, 'bob', `${file}2`);
    await json(shell, 'key', 'add', '--application', 'App', '--concealed', '--out', `${file}3`);
    await withStores(shell, ({ publicKeys }) => publicKeys.touch(his.fingerprint, now));
    await json(shell, 'user', 'disable', 'bob');
    const common = { scheme: 'Concealed', created_at: now };
    const one = { ...hers, person: 'alice', ...common };
    const other = { ...his, person: 'bob', ...common, used_at: now, disabled: true };
    const all = (await json(shell, 'user', 'key', 'list')) as Shown[];
    expect(new Set(all)).toEqual(new Set([one, other]));
    expect(await json(shell, 'user', 'key', 'list', 'alice')).toEqual([one]);
    expect(await json(shell, 'user', 'key', 'list', 'BOB')).toEqual([other]);
    const { stdout } = await inProcess(shell, 'user', 'key', 'list', 'bob');
    const at = `${new Date(now).toISOString().slice(0, 16)}Z`;
    const [, listed = ''] = stdout.split(/(?<=\n)/);
    const [, , , name] = listed.split(/ {2,}/);
    expect(listed.replaceAll(/ {2,}/g, ' | ')).toBe(
      `${his.fingerprint} | bob | Concealed | ${name} | ${at} | used ${at} | (disabled)\n`,
    );
  });

  test('no keys are no error, and an unknown person: exit code 1', async () => {
    const { shell } = await newShell();
    for (const args of [[], ['alice']]) {
      const { code, stdout } = await inProcess(shell, 'user', 'key', 'list', ...args);
      expect([code, stdout]).toEqual([0, 'There is no key yet.\n']);
      expect(await json(shell, 'user', 'key', 'list', ...args)).toEqual([]);
    }
    const { code, stderr } = await inProcess(shell, 'user', 'key', 'list', 'carol');
    expect([code, stderr]).toEqual([1, 'there is no person carol\n']);
  });
});

test("user key remove removes the key; a second time, or for another owner's key: exit code 1", async () => {
  const { shell, file } = await newShell();
  const hers = await make(shell, 'alice', `${file}1`);
  const his = await make(shell, 'bob', `${file}2`);
  const app = ['--application', 'App', '--concealed', '--out', `${file}3`];
  const { id } = (await json(shell, 'key', 'add', ...app)) as { id: string };
  const remove = (key: string) => inProcess(shell, 'user', 'key', 'remove', 'alice', key);
  for (const key of [his.fingerprint, id, 'x']) {
    expect(await remove(key)).toEqual({ code: 1, stdout: '', stderr: `alice has no key ${key}\n` });
  }
  const stdout = `Removed the key ${hers.fingerprint} of alice.\n`;
  expect(await remove(hers.fingerprint)).toEqual({ code: 0, stdout, stderr: '' });
  expect((await remove(hers.fingerprint)).code).toBe(1);
  expect((await inProcess(shell, 'key', 'remove', his.fingerprint)).code).toBe(1);
  expect(new Set((await stored(shell)).map((key) => key.id))).toEqual(
    new Set([his.fingerprint, id]),
  );
});

test('after a new password, and after a revocation of everything, remaining keys are named', async () => {
  const { shell, file } = await newShell();
  const told = async (...command: string[]) => {
    shell.stdin = PASSWORD;
    return (await inProcess(shell, ...command)).stdout;
  };
  const [passwd, end] = [
    ['user', 'passwd', 'alice', '--password-stdin'],
    ['user', 'end', 'alice'],
  ];
  expect(await told(...passwd)).not.toContain('key');
  await make(shell, 'alice', `${file}1`);
  expect(await told(...passwd)).toContain('1 key still lets alice in: see user key list');
  await make(shell, 'alice', `${file}2`);
  expect(await told(...end)).toContain('2 keys still let alice in');
});
