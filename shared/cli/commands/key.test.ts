import { createHash, createPublicKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { parseApiKey } from '#shared/people/api-key.ts';
import { readPublicKey } from '#shared/people/public-key.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { rotateApiKey } from '#shared/operations/keys/key-rotate.ts';
import { perform } from '#shared/operations/operation.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

const DAY = 86_400_000;

interface Shown {
  readonly id: string;
  readonly key: string;
}

/** A shell with the realms `keys`, `beside` and `tokens`; the last one accepts no keys. */
async function newShell(): Promise<TestShell> {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  const space = (realm: string, members: object) => ({
    url: `http://localhost:3001/${realm}/`,
    realm,
    ...members,
  });
  const spaces = [
    space('keys', { schemes: ['API-Key'] }),
    space('beside', { schemes: ['Basic'], apiKey: { beside: true } }),
    space('tokens', { schemes: ['Bearer'] }),
  ];
  await writeFile(file, JSON.stringify({ spaces }));
  return new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
}

const APP = ['--application', 'App', '--realm', 'keys'];

const add = async (shell: TestShell, ...args: readonly string[]) =>
  (await json(shell, 'key', 'add', ...APP, ...args)) as Shown;

const stored = (shell: TestShell, id: string) =>
  withStores(shell, async ({ apiKeys }) => apiKeys.get(id));

const publicHalf = (pem: Buffer) => createPublicKey(pem).export({ format: 'der', type: 'spki' });

const list = async (shell: TestShell) => (await json(shell, 'key', 'list')) as ApiKeyRecord[];

describe('key add', () => {
  test('shows the key once, and stores only the hash of its secret', async () => {
    const shell = await newShell();
    const shown = await add(shell, '--scope', 'a:read  a:write a:read', '--expires', '30');
    const { id, secret } = parseApiKey(shown.key) ?? {};
    expect(shown).toEqual({
      id,
      key: shown.key,
      application: 'App',
      realm: 'keys',
      scopes: ['a:read', 'a:write'],
      expires_at: shell.clock.now() + 30 * DAY,
    });
    expect(await stored(shell, shown.id)).toEqual({
      id,
      application: 'App',
      realm: 'keys',
      scopes: ['a:read', 'a:write'],
      secret_hash: createHash('sha256').update(`${secret}`).digest('base64url'),
      created_at: shell.clock.now(),
      expires_at: shell.clock.now() + 30 * DAY,
    });
    const listed = await inProcess(shell, 'key', 'list');
    expect(listed.stdout).not.toContain(secret);
  });

  test('prints lines; without options the key has no scope and never expires', async () => {
    const shell = await newShell();
    const { stdout } = await inProcess(shell, 'key', 'add', ...APP);
    expect(stdout).toMatch(
      /^id: (\w+)\nkey: cs_\1_\w+\napplication: App\nrealm: keys\nscopes: none\nends: never\n$/,
    );
  });

  test("a space that accepts keys beside people's credentials has keys, too", async () => {
    const shell = await newShell();
    const args = ['--application', 'App', '--realm', 'beside'];
    expect(await json(shell, 'key', 'add', ...args)).toMatchObject({ realm: 'beside' });
  });

  test.each([
    ['no application', ['--realm', 'keys'], '--application NAME is missing'],
    ['no realm', ['--application', 'App'], '--realm is missing'],
    [
      'a realm that takes no keys',
      ['--application', 'App', '--realm', 'tokens'],
      '--realm must be a realm that takes API keys: keys, beside',
    ],
    [
      'an unknown realm',
      ['--application', 'App', '--realm', 'Keys'],
      '--realm must be a realm that takes API keys: keys, beside',
    ],
    [
      'a name with a control sequence',
      ['--application', 'x\u001b[2J', '--realm', 'keys'],
      '--application must be',
    ],
    ['RFC 6749 section 3.3: no scope-token', [...APP, '--scope', 'a"b'], 'is not a scope'],
    ['an end in the past', [...APP, '--expires', '0'], '--expires must be'],
    ['an end that is no number', [...APP, '--expires', 'never'], '--expires must be'],
    ['an end too far away', [...APP, '--expires', '3651'], '--expires must be'],
    ['two ends', [...APP, '--expires', '1', '--expires', '2'], '--expires is given twice'],
  ])('%s is wrong usage, and no key is added', async (_, args, message) => {
    const shell = await newShell();
    const { code, stderr, stdout } = await inProcess(shell, 'key', 'add', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(await list(shell)).toEqual([]);
  });

  test('says what to do if no space accepts keys', async () => {
    const env = await newData();
    const file = `${env.COUNTERSIGN_DATA}.json`;
    const space = { url: 'http://localhost:3001/a/', realm: 'keys', schemes: ['Basic'] };
    await writeFile(file, JSON.stringify({ spaces: [space] }));
    const shell = new TestShell({ ...env, COUNTERSIGN_CONFIG: file });
    const { code, stderr } = await inProcess(shell, 'key', 'add', ...APP);
    expect([code, stderr]).toEqual([2, expect.stringContaining('name the scheme API-Key in one')]);
  });
});

describe('key list', () => {
  test('prints owner, space, last use and expiry, marks expired and demo keys, and never prints a hash', async () => {
    const shell = await newShell();
    expect((await inProcess(shell, 'key', 'list')).stdout).toBe('There is no key yet.\n');
    const one = await add(shell, '--scope', 'a b', '--expires', '1');
    const other = await add(shell);
    await withStores(shell, async ({ apiKeys }) => {
      const record = await apiKeys.get(other.id);
      if (record === undefined) throw new Error('no key');
      await apiKeys.add({ ...record, id: 'demo', application: 'Zoo', demo: true });
      await apiKeys.touch(other.id, shell.clock.now());
    });
    const at = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;
    const now = shell.clock.now();
    const rows = async () => {
      const { stdout } = await inProcess(shell, 'key', 'list');
      return new Set(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | ')));
    };
    const expected = (end: string) =>
      new Set([
        '',
        'ID | APPLICATION | REALM | SCOPES | LAST USE | END',
        `${one.id} | App | keys | a b | never used | ${end} ${at(now + DAY)}`,
        `${other.id} | App | keys | used ${at(now)}`,
        'demo | Zoo | keys | never used | (demo: refused in production)',
      ]);
    expect(await rows()).toEqual(expected('ends'));
    shell.clock.advance(86_400);
    expect(await rows()).toEqual(expected('ended'));
    const listed = (await inProcess(shell, 'key', 'list', '--json')).stdout;
    expect(JSON.parse(listed)).toHaveLength(3);
    expect(listed).not.toMatch(/hash/);
  });

  test('escapes control characters in a name', async () => {
    const shell = await newShell();
    const { id } = await add(shell);
    await withStores(shell, async ({ apiKeys }) => {
      const record = await apiKeys.get(id);
      if (record === undefined) throw new Error('no key');
      await apiKeys.add({ ...record, id: 'evil', application: 'x\nadmin\u001b[8m' });
    });
    const { stdout } = await inProcess(shell, 'key', 'list');
    expect(stdout.split('\n')).toHaveLength(4);
    expect(stdout).toContain(String.raw`x\u000aadmin\u001b[8m`);
  });
});

describe('key rotate', () => {
  test('a failure between its two writes leaves the old key, no new key, and no event', async () => {
    const shell = await newShell();
    const old = await add(shell);
    await withPeople(shell, async (house) => {
      const { stores } = house;
      const failing: Stores = {
        ...stores,
        together: (work) =>
          stores.together((held) => {
            const expire = async () => Promise.reject(new Error('the machine stopped'));
            return work({ ...held, apiKeys: { ...held.apiKeys, expire } });
          }),
      };
      const before = [await stores.apiKeys.list(), (await stores.audit.open()).texts];
      const rotating = perform(rotateApiKey, { id: old.id }, { ...house, stores: failing });
      await expect(rotating).rejects.toThrow('the machine stopped');
      expect([await stores.apiKeys.list(), (await stores.audit.open()).texts]).toEqual(before);
    });
  });

  test('makes another secret with the same members; both are valid for a day', async () => {
    const shell = await newShell();
    const old = await add(shell, '--scope', 'a');
    shell.clock.advance(3600);
    const now = shell.clock.now();
    const next = (await json(shell, 'key', 'rotate', old.id)) as Shown;
    expect(next).toEqual({
      id: next.id,
      key: next.key,
      application: 'App',
      realm: 'keys',
      scopes: ['a'],
    });
    expect(next.id).not.toBe(old.id);
    expect(parseApiKey(next.key)?.secret).not.toBe(parseApiKey(old.key)?.secret);
    expect(await stored(shell, old.id)).toMatchObject({ expires_at: now + DAY });
    expect(await stored(shell, next.id)).toMatchObject({ application: 'App', created_at: now });
    expect((await stored(shell, next.id))?.expires_at).toBeUndefined();
  });

  test('--overlap 0 expires the old key at once, and an earlier expiry stays', async () => {
    const shell = await newShell();
    const now = shell.clock.now();
    const old = await add(shell);
    await json(shell, 'key', 'rotate', old.id, '--overlap', '0');
    expect(await stored(shell, old.id)).toMatchObject({ expires_at: now });
    const short = await add(shell, '--expires', '1');
    await json(shell, 'key', 'rotate', short.id, '--overlap', '172800');
    expect(await stored(shell, short.id)).toMatchObject({ expires_at: now + DAY });
  });

  test('a key with an expiry gets a successor with the same lifetime, unless --expires says otherwise', async () => {
    const shell = await newShell();
    const old = await add(shell, '--expires', '30');
    shell.clock.advance(29 * 86_400);
    const now = shell.clock.now();
    expect(await json(shell, 'key', 'rotate', old.id)).toMatchObject({
      expires_at: now + 30 * DAY,
    });
    expect(await json(shell, 'key', 'rotate', old.id, '--expires', '7')).toMatchObject({
      expires_at: now + 7 * DAY,
    });
  });

  test('a key that is rotated again while it still works gives each successor its whole life', async () => {
    const shell = await newShell();
    const [unlimited, month] = [await add(shell), await add(shell, '--expires', '30')];
    for (let time = 0; time < 3; time += 1) {
      shell.clock.advance(3600);
      const now = shell.clock.now();
      const next = (await json(shell, 'key', 'rotate', unlimited.id)) as Shown;
      expect((await stored(shell, next.id))?.expires_at).toBeUndefined();
      const other = (await json(shell, 'key', 'rotate', month.id)) as Shown;
      expect((await stored(shell, other.id))?.expires_at).toBe(now + 30 * DAY);
    }
  });

  test('a demo key stays a demo key, which production refuses', async () => {
    const shell = await newShell();
    const { id } = await add(shell);
    await withStores(shell, async ({ apiKeys }) => {
      const record = await apiKeys.get(id);
      if (record !== undefined) await apiKeys.add({ ...record, id: 'demo', demo: true });
    });
    const next = (await json(shell, 'key', 'rotate', 'demo')) as Shown;
    expect(await stored(shell, next.id)).toMatchObject({ demo: true });
  });

  test('prints lines with the key, and with the expiry of the old key', async () => {
    const shell = await newShell();
    const { id } = await add(shell);
    const { stdout } = await inProcess(shell, 'key', 'rotate', id, '--overlap', '60');
    expect(stdout).toMatch(/^key: cs_\w+$/m);
    expect(stdout).toContain(`The key ${id} ends 60 seconds from now at the latest.\n`);
  });

  test.each([['-1'], ['2592001'], ['1.5'], ['1d']])(
    '--overlap %s is wrong usage',
    async (overlap) => {
      const shell = await newShell();
      const { id } = await add(shell);
      const ended = await inProcess(shell, 'key', 'rotate', id, `--overlap=${overlap}`);
      expect([ended.code, ended.stdout]).toEqual([2, '']);
      expect(await list(shell)).toHaveLength(1);
    },
  );

  test('an unknown key: exit code 1, and no key is made', async () => {
    const shell = await newShell();
    const ended = await inProcess(shell, 'key', 'rotate', 'nobody');
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'there is no key nobody\n' });
    expect(await list(shell)).toEqual([]);
  });
});

describe('keys for Concealed', () => {
  const CONCEALED = ['--application', 'App', '--concealed'];

  test('a key is made, listed beside API keys, and removed, and only the file has the private key', async () => {
    const shell = await newShell();
    const out = `${shell.env['COUNTERSIGN_DATA']}.pem`;
    const api = await add(shell);
    const args = [...CONCEALED, '--out', out, '--name', 'Station'];
    const made = (await json(shell, 'key', 'add', ...args)) as Shown;
    const { id } = readPublicKey(publicHalf(await readFile(out)), 'Concealed');
    const shown = { id, application: 'App', scheme: 'Concealed', name: 'Station' };
    expect(made).toEqual(shown);
    expect(await list(shell)).toEqual([
      expect.objectContaining({ id: api.id }),
      { ...shown, created_at: shell.clock.now() },
    ]);
    const { stdout } = await inProcess(shell, 'key', 'list');
    expect(stdout.split('\n')[2]?.replaceAll(/ {2,}/g, ' | ')).toBe(
      `${id} | App | never used | (Concealed: Station)`,
    );
    expect(await json(shell, 'user', 'key', 'list')).toEqual([]);
    expect(await json(shell, 'key', 'remove', id)).toEqual({ id, removed: true });
    expect(await list(shell)).toHaveLength(1);
    expect((await inProcess(shell, 'key', 'remove', id)).code).toBe(1);
  });

  test('a key is shown in lines', async () => {
    const shell = await newShell();
    const out = `${shell.env['COUNTERSIGN_DATA']}.pem`;
    const { stdout } = await inProcess(shell, 'key', 'add', ...CONCEALED, '--out', out);
    expect(stdout).toMatch(/^id: [\w-]{43}\napplication: App\nscheme: Concealed\nname: .*\.pem\n$/);
  });

  test.each([
    [[...CONCEALED, '--out', 'x', '--realm', 'keys'], '--realm is of API keys'],
    [[...CONCEALED, '--out', 'x', '--scope', 'a'], '--scope is of API keys'],
    [[...CONCEALED, '--out', 'x', '--expires', '1'], '--expires is of API keys'],
    [[...APP, '--out', 'x'], '--out belongs to --concealed'],
    [[...APP, '--public-key', 'x'], '--public-key belongs to --concealed'],
    [[...APP, '--name', 'x'], '--name belongs to --concealed'],
    [CONCEALED, 'give --public-key FILE, or --out FILE'],
    [['--application', 'App'], '--realm is missing'],
  ])('%j is wrong usage', async (args, message) => {
    const shell = await newShell();
    const ended = await inProcess(shell, 'key', 'add', ...args);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([
      2,
      '',
      expect.stringContaining(message),
    ]);
    expect(await list(shell)).toEqual([]);
  });
});

test('key remove removes the key; the second time it exits with 1', async () => {
  const shell = await newShell();
  const { id } = await add(shell);
  const other = await add(shell);
  expect(await json(shell, 'key', 'remove', id)).toEqual({ id, removed: true });
  expect((await list(shell)).map((key) => key.id)).toEqual([other.id]);
  const ended = await inProcess(shell, 'key', 'remove', id);
  expect(ended).toEqual({ code: 1, stdout: '', stderr: `there is no key ${id}\n` });
});
