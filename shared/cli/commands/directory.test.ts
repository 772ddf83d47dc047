import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { readMasterSecret } from '#shared/config/secret.ts';
import { makeSecondFactor, newSecret } from '#shared/people/second-factor/second-factor.ts';
import { hotp, stepAt } from '#shared/people/second-factor/totp.ts';
import {
  someApiKey,
  somePasskey,
  somePublicKey,
  someSecondFactor,
} from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const PASSWORD = 'correct horse battery staple';
const MASTER = 'correct horse battery staple and some more';

async function newShell() {
  const env = await newData();
  const shell = new TestShell({ ...env, COUNTERSIGN_SECRET: MASTER });
  return { shell, file: `${env.COUNTERSIGN_DATA}.export` };
}

/**
 * A shell with alice, her key, passkey and second factor, with bob, and with two keys of an application.
 */
async function full() {
  const made = await newShell();
  for (const name of ['alice', 'bob']) {
    made.shell.stdin = PASSWORD;
    await json(made.shell, 'user', 'add', name, '--password-stdin');
  }
  await json(made.shell, 'user', 'kerberos', 'alice', 'alice@EXAMPLE.COM');
  await json(made.shell, 'key', 'add', '--application', 'App', '--realm', 'api-key');
  await json(made.shell, 'user', 'key', 'add', 'alice', '--out', `${made.file}.alice`);
  await withStores(made.shell, async (stores, config) => {
    const { people, passkeys } = stores;
    const accountId = (await people.getByName('alice'))?.id ?? '';
    await passkeys.add({ ...somePasskey('AAAA'), accountId }, 1);
    const { env, clock, random } = made.shell;
    const secret = newSecret(random);
    const parts = { stores, master: await readMasterSecret(config, env), clock, random };
    const code = hotp(secret, stepAt(clock.now()));
    const factor = makeSecondFactor(parts, accountId, secret, code)?.factor;
    expect(factor && (await stores.secondFactors.add(factor))).toBe(true);
  });
  const app = ['--application', 'App', '--concealed', '--out', `${made.file}.app`];
  await json(made.shell, 'key', 'add', ...app);
  return made;
}

const listed = async (shell: TestShell) => [
  await json(shell, 'user', 'list'),
  await json(shell, 'key', 'list'),
  await json(shell, 'user', 'key', 'list'),
];

describe('directory export', () => {
  test('writes a new file for its owner only, with every verifier and no password', async () => {
    const { shell, file } = await full();
    expect(await json(shell, 'directory', 'export', file)).toEqual({
      file,
      people: 2,
      api_keys: 1,
      public_keys: 2,
      passkeys: 1,
      second_factors: 1,
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(
      /argon2id.*"SCRAM-SHA-256\$100000:.*"digest SHA-256".*"[0-9a-f]{64}".*secret_hash.*spki.*rpId.*sealed/s,
    );
    expect(text).not.toContain(PASSWORD);
  });

  test('omits the keys and passkeys of a person who was added during the export', async () => {
    const { shell, file } = await full();
    await withStores(shell, async ({ publicKeys, passkeys, secondFactors }) => {
      await publicKeys.add(somePublicKey('later'), 1);
      await passkeys.add(somePasskey('later'), 1);
      await secondFactors.add(someSecondFactor('later'));
    });
    expect(await json(shell, 'directory', 'export', file)).toMatchObject({
      public_keys: 2,
      passkeys: 1,
      second_factors: 1,
    });
    expect((await inProcess(shell, 'directory', 'import', file)).code).toBe(0);
  });

  test.each([
    ['a file', (file: string) => writeFile(file, 'mine')],
    ['a link to nowhere', (file: string) => symlink(`${file}.elsewhere`, file)],
  ])('an existing %s is neither followed nor overwritten', async (_, make) => {
    const { shell, file } = await full();
    await make(file);
    const { code, stdout, stderr } = await inProcess(shell, 'directory', 'export', file);
    expect([code, stdout, stderr]).toEqual([1, '', `${file} is there already: name another\n`]);
    expect(await readFile(file, 'utf8').catch(() => 'mine')).toBe('mine');
  });

  test('if the store fails halfway: exit code 1, and no partial file is left', async () => {
    const { shell, file } = await full();
    const state = new DatabaseSync(join(shell.env['COUNTERSIGN_DATA'] ?? '', 'state.db'));
    // The list of people calls this trigger for each record, and fails here.
    const triggers = state.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all();
    for (const { name } of triggers) state.exec(`DROP TRIGGER ${String(name)}`);
    state.exec(`UPDATE person SET record = 'broken' WHERE name = 'bob'`);
    state.close();
    const { code, stdout } = await inProcess(shell, 'directory', 'export', file);
    expect([code, stdout]).toEqual([1, '']);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  test('a missing folder: exit code 1', async () => {
    const { shell, file } = await newShell();
    const { code, stderr } = await inProcess(shell, 'directory', 'export', join(file, 'x'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('ENOENT')]);
  });

  test('-: exit code 1, because secrets are not written to standard output', async () => {
    const { shell } = await newShell();
    const { code, stdout, stderr } = await inProcess(shell, 'directory', 'export', '-');
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('name a new file')]);
  });
});

describe('directory import', () => {
  test('fills another directory completely, and prints the counts', async () => {
    const before = await full();
    await json(before.shell, 'directory', 'export', before.file);
    const after = await newShell();
    const { stdout } = await inProcess(after.shell, 'directory', 'import', before.file);
    expect(stdout).toBe(
      ['people: 2', 'api keys: 1', 'public keys: 2', 'passkeys: 1', 'second factors: 1']
        .map((what) => `${what} added, 0 replaced\n`)
        .join(''),
    );
    expect(await listed(after.shell)).toMatchObject([
      [
        { name: 'alice', kerberos: ['alice@EXAMPLE.COM'], lacks: [] },
        { name: 'bob', lacks: [] },
      ],
      [
        { application: 'App', realm: 'api-key' },
        { application: 'App', scheme: 'Concealed' },
      ],
      [{ person: 'alice' }],
    ]);
    after.shell.stdin = await readFile(before.file, 'utf8');
    expect(await json(after.shell, 'directory', 'import', '-')).toEqual({
      people: { added: 0, replaced: 2 },
      api_keys: { added: 0, replaced: 1 },
      public_keys: { added: 0, replaced: 2 },
      passkeys: { added: 0, replaced: 1 },
      second_factors: { added: 0, replaced: 1 },
    });
  });

  test.each([
    ['half of it', (text: string) => text.slice(0, text.length >> 1), 'is not JSON'],
    [
      'an API key broken',
      (text: string) => text.replace(/("secret_hash":")./, '$1!'),
      'api_keys.0',
    ],
    [
      'the last key broken',
      (text: string) => text.replace(/("spki":")[^"]*("[^\n]*\n])/, '$1AAAA$2'),
      'public_keys.1.spki',
    ],
    [
      'a passkey broken',
      (text: string) => text.replace('"counter":7', '"counter":-7'),
      'passkeys.0.counter',
    ],
    ['somebody twice', (text: string) => text.replace('"bob"', '"alice"'), 'people.1.name'],
    [
      'of a later release',
      (text: string) => text.replace('directory": 1', 'directory": 2'),
      'countersign_directory: must be 1; ',
    ],
  ])('%s: exit code 1 with the place, and nothing changes', async (_, spoil, message) => {
    const { shell, file } = await full();
    await json(shell, 'directory', 'export', file);
    await writeFile(file, spoil(await readFile(file, 'utf8')));
    const before = await listed(shell);
    const { code, stdout, stderr } = await inProcess(shell, 'directory', 'import', file);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    expect(await listed(shell)).toEqual(before);
  });

  test('a principal of another person: exit code 1, and nothing changes', async () => {
    const before = await full();
    await json(before.shell, 'directory', 'export', before.file);
    const { shell } = await newShell();
    shell.stdin = PASSWORD;
    await json(shell, 'user', 'add', 'carol', '--password-stdin');
    await json(shell, 'user', 'kerberos', 'carol', 'alice@EXAMPLE.COM');
    const there = await listed(shell);
    const { code, stderr } = await inProcess(shell, 'directory', 'import', before.file);
    expect([code, stderr]).toEqual([1, expect.stringContaining("carol's here")]);
    expect(await listed(shell)).toEqual(there);
  });

  test('second factors of another master secret: exit code 1 with the person, and nothing changes', async () => {
    const before = await full();
    await json(before.shell, 'directory', 'export', before.file);
    const { shell } = await newShell();
    shell.env['COUNTERSIGN_SECRET'] = `${MASTER} and more`;
    const { code, stdout, stderr } = await inProcess(shell, 'directory', 'import', before.file);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^the second factor of alice was sealed under another master secret/);
    expect(await json(shell, 'user', 'list')).toEqual([]);
    const { second_factors: _, ...file } = JSON.parse(await readFile(before.file, 'utf8'));
    await writeFile(before.file, JSON.stringify({ ...file, second_factors: [] }));
    expect(await json(shell, 'directory', 'import', before.file)).toMatchObject({
      people: { added: 2 },
    });
  });

  test('reports its progress with a long file, and refuses an endless file by its length', async () => {
    const { shell, file } = await newShell();
    await json(shell, 'directory', 'export', file);
    const exported = JSON.parse(await readFile(file, 'utf8'));
    const api_keys = Array.from({ length: 2001 }, (_, n) => someApiKey(`key-${n}`));
    shell.stdin = JSON.stringify({ ...exported, api_keys });
    const imported = await inProcess(shell, 'directory', 'import', '-');
    const told = '1000 entries written so far\n2000 entries written so far\n';
    expect([imported.code, imported.stderr]).toEqual([0, told]);
    const { code, stderr } = await inProcess(shell, 'directory', 'import', '/dev/zero');
    expect([code, stderr]).toEqual([1, '/dev/zero has more than 268,435,456 octets\n']);
  });

  test('a missing file: exit code 1', async () => {
    const { shell, file } = await newShell();
    const { code, stderr } = await inProcess(shell, 'directory', 'import', file);
    expect([code, stderr]).toEqual([1, `cannot read ${file} (ENOENT)\n`]);
  });
});
