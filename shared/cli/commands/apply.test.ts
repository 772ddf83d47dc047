import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const SECRET = 'a-secret-of-a-client-which-nobody-guesses';
const HASH = hash('sha256', SECRET, 'base64url');
const KEY = newApiKey(systemRandom);

const ALICE = { name: 'alice', profile: { display_name: 'Alice', groups: ['staff'] }, admin: true };
const APP = {
  client_id: 'app',
  client_name: 'App',
  grant_types: ['client_credentials'],
  scope: 'documents:read',
  secret_hash: HASH,
};
const API_KEY = {
  id: KEY.id,
  application: 'App',
  realm: 'api-key',
  secret_hash: KEY.secret_hash,
  scopes: ['documents:read'],
};
const FILE = { people: [ALICE, { name: 'bob' }], clients: [APP], api_keys: [API_KEY] };

/** A shell with a store, and a function that applies the content of a file. */
async function newShell() {
  const env = await newData();
  const shell = new TestShell(env);
  const file = join(await temporaryFolder(), 'declared.json');
  const write = (content: unknown) =>
    writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  const applied = async (content: unknown, ...options: readonly string[]) => {
    await write(content);
    return (await json(shell, 'apply', file, ...options)) as {
      dry_run: boolean;
      changes: { kind: string; name: string; change: string; members: object }[];
      disabled: string[];
    };
  };
  const refused = async (content: unknown, ...options: readonly string[]) => {
    await write(content);
    const { code, stdout, stderr } = await inProcess(shell, 'apply', file, ...options);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };
  const done = async (...args: Parameters<typeof applied>) =>
    (await applied(...args)).changes.map(({ kind, name, change }) => `${kind} ${name} ${change}`);
  return { shell, file, applied, refused, done };
}

async function eventsIn(shell: TestShell) {
  const { stdout } = await inProcess(shell, 'audit', 'list', '--json');
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<'kind' | 'who' | 'how', string>);
}

describe('apply', () => {
  test('creates the content of the file; a second run changes nothing and says so', async () => {
    const { shell, file, done } = await newShell();
    expect(await done(FILE)).toEqual([
      'person alice added',
      'person bob added',
      'client app added',
      `api-key ${KEY.id} added`,
    ]);
    const events = (await eventsIn(shell)).length;
    const again = await inProcess(shell, 'apply', file);
    expect(again).toEqual({ code: 0, stdout: 'Nothing to change.\n', stderr: '' });
    expect(await eventsIn(shell)).toHaveLength(events);
    expect(await json(shell, 'user', 'show', 'alice')).toMatchObject({
      ...ALICE.profile,
      admin: true,
      passwordless: true,
      disabled: false,
    });
    const { secret_hash: _, ...shown } = APP;
    expect(await json(shell, 'client', 'show', 'app')).toMatchObject(shown);
    expect(await json(shell, 'key', 'list')).toMatchObject([{ id: KEY.id, realm: 'api-key' }]);
  });

  test('writes an event for each change, by the command line', async () => {
    const { shell, done } = await newShell();
    await done(FILE);
    const bob = { name: 'bob', profile: { groups: ['staff'] }, disabled: true };
    await done({ people: [ALICE, bob], clients: [{ ...APP, scope: 'documents:write' }] });
    await done({ people: [ALICE] }, '--prune');
    const events = await eventsIn(shell);
    expect(events.map(({ kind }) => kind).toSorted()).toEqual(
      [
        'person.added',
        'person.added',
        'client.added',
        'api-key.added',
        'person.disabled',
        'person.changed',
        'client.changed',
        'client.removed',
        'api-key.removed',
      ].toSorted(),
    );
    for (const event of events)
      expect(event).toMatchObject({ who: 'operator', how: 'command line' });
  });

  test('shows the old and the new value of each difference, but no secret', async () => {
    const { shell, file, done } = await newShell();
    await done(FILE);
    const other = hash('sha256', 'another', 'base64url');
    const content = {
      people: [{ ...ALICE, profile: { groups: ['staff', 'board'] } }, { name: 'carol' }],
      clients: [{ ...APP, secret_hash: other, default_scope: 'documents:read' }],
    };
    await writeFile(file, JSON.stringify(content));
    const { stdout } = await inProcess(shell, 'apply', file, '--prune', '--dry-run');
    expect(stdout).toBe(
      [
        'Nothing is changed by this run.',
        '~ person alice: would be changed',
        '    display_name: "Alice" -> (none)',
        '    groups: ["staff"] -> ["staff","board"]',
        '+ person carol: would be added',
        '~ client app: would be changed',
        '    secret_hash: "(hidden)" -> "(hidden)"',
        '    default_scope: (none) -> "documents:read"',
        `- api key ${KEY.id} of ${API_KEY.application}: would be removed`,
        '- person bob: would be disabled',
        '    disabled: (none) -> true',
        'Would be disabled, not erased: bob. "disabled": false lets them in again.',
        '5 changes, none made.',
        '',
      ].join('\n'),
    );
    const unpruned = await inProcess(shell, 'apply', file, '--dry-run');
    const would = `2 would go with --prune: api key ${KEY.id} of ${API_KEY.application}, person bob.\n`;
    expect(unpruned.stdout).toContain(`3 changes, none made.\n${would}`);
    expect(await json(shell, 'user', 'list')).toHaveLength(2);
    expect(await json(shell, 'client', 'show', 'app')).not.toHaveProperty('default_scope');
    const made = await inProcess(shell, 'apply', file, '--prune');
    const asDone = stdout
      .replace('Nothing is changed by this run.\n', '')
      .replaceAll('would be ', '')
      .replace('Would be disabled', 'Disabled')
      .replace(', none made', '');
    expect(made.stdout).toBe(asDone);
    expect((await inProcess(shell, 'apply', file, '--prune')).stdout).toBe('Nothing to change.\n');
  });

  test('--prune removes only what apply added; people are disabled, and enabled when they return', async () => {
    const { shell, file, applied, done } = await newShell();
    const byHand = [
      '--name',
      'By hand',
      '--grant',
      'client_credentials',
      '--scope',
      'documents:read',
    ];
    const { client_id: id } = (await json(shell, 'client', 'add', ...byHand)) as {
      client_id: string;
    };
    await json(shell, 'user', 'invite', 'dave');
    await done(FILE);
    expect(await done({ people: [ALICE] })).toEqual([]);
    const grants = (work: 'put' | 'list') =>
      withStores(shell, async ({ artefacts }) => {
        const payload = { grantId: 'grant', clientId: 'app', clientGeneration: 0 };
        if (work === 'put') await artefacts.put({ kind: 'Access', id: 'grant', payload });
        return (await artefacts.pageByClient('Access', 'app', { limit: 9 })).found.length;
      });
    expect(await grants('put')).toBe(1);
    expect(await json(shell, 'apply', file)).toEqual({
      dry_run: false,
      changes: [],
      disabled: [],
      left: [
        {
          kind: 'api-key',
          name: KEY.id,
          owner: API_KEY.application,
          change: 'removed',
          members: {},
        },
        { kind: 'client', name: 'app', change: 'removed', members: {} },
        { kind: 'person', name: 'bob', change: 'disabled', members: expect.anything() },
      ],
    });
    expect(await done({ people: [ALICE] }, '--prune')).toEqual([
      `api-key ${KEY.id} removed`,
      'client app removed',
      'person bob disabled',
    ]);
    expect(await grants('list')).toBe(0);
    expect(await json(shell, 'client', 'list')).toMatchObject([{ client_id: id }]);
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { name: 'alice' },
      { name: 'bob', disabled: true },
      { name: 'dave' },
    ]);
    expect(await done(FILE)).toEqual(['client app added', `api-key ${KEY.id} added`]);
    expect(await applied(FILE)).toMatchObject({ changes: [], disabled: ['bob'] });
    expect((await inProcess(shell, 'apply', file)).stdout).toBe(
      'Nothing to change.\nDeclared, but disabled: bob. "disabled": false lets them in.\n',
    );
    const out = { people: [ALICE, { name: 'bob', disabled: true }] };
    expect(await applied(out)).toMatchObject({ changes: [], disabled: [] });
    const enabled = { people: [ALICE, { name: 'bob', disabled: false }] };
    expect(await done(enabled)).toEqual(['person bob changed']);
  });

  test('a person whom --prune disabled and an operator enabled stays enabled', async () => {
    const { shell, done } = await newShell();
    const without = { people: [ALICE] };
    await done({ people: [ALICE, { name: 'bob' }] });
    expect(await done(without, '--prune')).toEqual(['person bob disabled']);
    await json(shell, 'user', 'enable', 'bob');
    expect(await done(without, '--prune')).toEqual([]);
    expect(await json(shell, 'user', 'list')).toMatchObject([{}, { name: 'bob', disabled: false }]);
    // A file that admits the person again is no longer in force.
    await json(shell, 'user', 'disable', 'bob');
    const enabled = { people: [ALICE, { name: 'bob', disabled: false }] };
    expect(await done(enabled)).toEqual(['person bob changed']);
    expect(await done(without, '--prune')).toEqual(['person bob disabled']);
  });

  test('a person who was disabled before --prune, and enabled afterwards, stays enabled', async () => {
    const { shell, done } = await newShell();
    await done({ people: [ALICE, { name: 'bob', disabled: true }] });
    expect(await done({ people: [ALICE] }, '--prune')).toEqual([]);
    await json(shell, 'user', 'enable', 'bob');
    expect(await done({ people: [ALICE] }, '--prune')).toEqual([]);
  });

  test('a removed person is neither pruned again nor added again without a message', async () => {
    const { shell, done, refused } = await newShell();
    await done(FILE);
    await json(shell, 'user', 'remove', 'bob');
    expect(await refused(FILE)).toContain('bob was the name of a removed person');
    expect(await done({ ...FILE, people: [ALICE] }, '--prune')).toEqual([]);
    expect(await done(FILE, '--reuse-name')).toEqual(['person bob added']);
  });

  test('reads an API key and a secret from files, even through links', async () => {
    const { file, done, shell } = await newShell();
    const folder = join(file, '..');
    await writeFile(join(folder, 'secret'), `${SECRET}\n`);
    await writeFile(join(folder, 'key'), `${KEY.key}\n`);
    await symlink('key', join(folder, 'link'));
    const { secret_hash: _, ...app } = APP;
    const { secret_hash: __, id: ___, ...key } = API_KEY;
    const content = {
      clients: [{ ...app, secret_file: 'secret' }],
      api_keys: [{ ...key, key_file: 'link' }],
    };
    expect(await done(content)).toEqual(['client app added', `api-key ${KEY.id} added`]);
    expect(await done({ clients: [APP], api_keys: [API_KEY] })).toEqual([]);
    await withStores(shell, async ({ clients, apiKeys }) => {
      expect((await clients.get('app'))?.secret_hash).toBe(HASH);
      expect((await apiKeys.get(KEY.id))?.secret_hash).toBe(KEY.secret_hash);
    });
  });

  test.each([
    ['/dev/zero', 'is no file'],
    ['.', 'is no file'],
    ['none', 'ENOENT'],
    ['short', 'at least 32 visible'],
    ['long', 'more than 4,096 octets'],
  ])('refuses a secret in %s, and shows its content in no message', async (name, reason) => {
    const { file, refused } = await newShell();
    const folder = join(file, '..');
    await writeFile(join(folder, 'short'), 'tiny-secret');
    await writeFile(join(folder, 'long'), SECRET.repeat(1000));
    const { secret_hash: _, ...app } = APP;
    const said = await refused({ clients: [{ ...app, secret_file: name }] });
    expect(said).toContain(reason);
    expect(said).toContain('clients.0');
    expect(said).not.toMatch(/tiny-secret|a-secret-of/);
  });

  test('applies a stripped export, and an export by --declared, without a change', async () => {
    const { shell, file, done } = await newShell();
    await done(FILE);
    const [whole, declared] = [`${file}.whole`, `${file}.declared`];
    await json(shell, 'directory', 'export', declared, '--declared');
    expect((await inProcess(shell, 'apply', declared, '--prune')).stdout).toBe(
      'Nothing to change.\n',
    );
    await json(shell, 'directory', 'export', whole);
    const exported = JSON.parse(await readFile(whole, 'utf8'));
    const stripped = {
      countersign_directory: exported.countersign_directory,
      people: exported.people.map((person: object) =>
        Object.fromEntries(Object.entries(person).filter(([member]) => member !== 'verifiers')),
      ),
      api_keys: exported.api_keys,
    };
    expect(await done(stripped)).toEqual([]);
    const fresh = await newShell();
    expect(await fresh.done(stripped)).toHaveLength(3);
    const text = await readFile(declared, 'utf8');
    expect(await fresh.done(text)).toEqual(['client app added']);
  });

  test('uses the realms of the configuration', async () => {
    const { done, refused } = await newShell();
    expect(await done({ realms: ['api-key'] })).toEqual([]);
    expect(await refused({ realms: ['api-key', 'none'] })).toMatch(
      /realms\.1: is no realm of the configuration, which has: .*api-key/,
    );
    expect(await refused({ api_keys: [{ ...API_KEY, realm: 'none' }] })).toContain(
      'api_keys.0.realm: must be a realm that takes API keys',
    );
  });
});

describe('apply with a mistake changes nothing and names the place', () => {
  const mistakes: readonly (readonly [string, unknown, string])[] = [
    ['no JSON', '{\n  "people": [],\n}', '\n  line 3, column 1: is not JSON'],
    ['a list', [], 'all: must be an object'],
    [
      'an unknown member',
      { poeple: [] },
      'poeple: is not a setting: remove it, or did you mean people?',
    ],
    [
      'in a person',
      { people: [{ name: 'a', admn: true }] },
      'people.0.admn: is not a setting: remove it, or did you mean admin?',
    ],
    [
      'in a profile',
      { people: [{ name: 'a', profile: { group: [] } }] },
      'people.0.profile.group: is not a setting: remove it, or did you mean groups?',
    ],
    [
      'in a client',
      { clients: [{ ...APP, redirect_uri: [] }] },
      'clients.0.redirect_uri: is not a setting: remove it, or did you mean redirect_uris?',
    ],
    ['a member twice', '{"people":[{"name":"a","name":"b"}]}', 'people.0.name: is there twice'],
    ['written in two ways', '{"people":[],"\\u0070eople":[]}', 'people: is there twice'],
    [
      '__proto__',
      '{"people":[{"name":"a","__proto__":{"admin":true}}]}',
      'people.0.__proto__: is no member',
    ],
    [
      'constructor',
      { people: [{ name: 'a', constructor: {} }] },
      'people.0.constructor: is not a setting',
    ],
    [
      'a password',
      { people: [{ name: 'a', password: 'superman' }] },
      'people.0.password: lets somebody in',
    ],
    [
      'a password hash',
      { people: [{ name: 'a', password_hash: '$argon2id$' }] },
      'people.0.password_hash: lets somebody in',
    ],
    ['passkeys', { passkeys: [] }, 'passkeys: lets people in'],
    [
      'a client secret',
      { clients: [{ ...APP, client_secret: SECRET }] },
      'clients.0.client_secret: is a secret',
    ],
    ['an API key', { api_keys: [{ ...API_KEY, key: KEY.key }] }, 'api_keys.0.key: is a secret'],
    [
      'an API key as a name',
      { clients: [{ ...APP, client_name: KEY.key }] },
      'clients.0.client_name: is a secret',
    ],
    [
      'a private key',
      {
        clients: [
          {
            ...APP,
            token_endpoint_auth_method: 'private_key_jwt',
            secret_hash: undefined,
            jwks: { keys: [{ kty: 'EC', d: 'x' }] },
          },
        ],
      },
      'clients.0.jwks.keys.0: holds a private key',
    ],
    [
      'a hash of another form',
      { clients: [{ ...APP, secret_hash: hash('sha256', SECRET) }] },
      'clients.0.secret_hash: must be SHA-256',
    ],
    [
      'a hash that is a secret',
      { api_keys: [{ ...API_KEY, secret_hash: SECRET }] },
      'api_keys.0.secret_hash: must be 32 bytes',
    ],
    [
      'no secret',
      { clients: [{ ...APP, secret_hash: undefined }] },
      'the client app has no secret',
    ],
    [
      'a secret of a public client',
      { clients: [{ ...APP, token_endpoint_auth_method: 'none' }] },
      'clients.0.secret_hash: is of no client with the method none',
    ],
    [
      'a name in another form',
      { people: [{ name: 'Alice' }] },
      'people.0.name: must be a name in its normal form: 1 to 64 letters, digits and . _ @ + -, in lower case',
    ],
    [
      'a name with letters of two scripts that is wide',
      { people: [{ name: 'ａlice' }] },
      'people.0.name',
    ],
    [
      'a name twice',
      { people: [{ name: 'a' }, { name: 'a' }] },
      'people.1.name: is that of an earlier entry',
    ],
    ['a client twice', { clients: [APP, APP] }, 'clients.1.client_id: is that of an earlier entry'],
    ['a key twice', { api_keys: [API_KEY, API_KEY] }, 'api_keys.1.id: is that of an earlier entry'],
    [
      'a built-in client',
      { clients: [{ ...APP, client_id: 'resource-server' }] },
      'clients.0.client_id: is that of a client that is built in',
    ],
    [
      'a client_id that is an address',
      { clients: [{ ...APP, client_id: 'https://a.example/' }] },
      'clients.0.client_id: must be',
    ],
    [
      'a redirect URI',
      {
        clients: [
          { ...APP, grant_types: ['authorization_code'], redirect_uris: ['http://evil.example/'] },
        ],
      },
      'clients.0.redirect_uris.0: http://evil.example/ must be https',
    ],
    [
      'a grant',
      { clients: [{ ...APP, grant_types: ['password'] }] },
      'clients.0.grant_types.0: must be one of',
    ],
    [
      'a first-party machine',
      { clients: [{ ...APP, first_party: true }] },
      'clients.0.first_party: is about sign-in in a browser',
    ],
    [
      'an administrator’s scope',
      { clients: [{ ...APP, scope: 'admin' }] },
      'clients.0.scope: has admin, which is of administrators: add admin',
    ],
    [
      'a group with a comma',
      { people: [{ name: 'a', profile: { groups: ['a,b'] } }] },
      'people.0.profile.groups.0: must be',
    ],
    [
      'a principal',
      { people: [{ name: 'a', kerberos: ['a'] }] },
      'people.0.kerberos.0: must be a principal',
    ],
  ];

  test.each(mistakes)('%s', async (_, content, said) => {
    const { shell, refused } = await newShell();
    const marked =
      typeof content === 'object' && !Array.isArray(content)
        ? { ...content, ...('people' in (content ?? {}) ? {} : { people: [{ name: 'first' }] }) }
        : content;
    const stderr = await refused(marked);
    expect(stderr).toContain(said);
    for (const secret of [SECRET, KEY.key, 'superman']) expect(stderr).not.toContain(secret);
    expect(await json(shell, 'user', 'list')).toEqual([]);
    expect(await eventsIn(shell)).toEqual([]);
  });

  test('all mistakes are reported at once, twenty at most', async () => {
    const { refused } = await newShell();
    const people = Array.from({ length: 50 }, () => ({ name: 'A' }));
    const lines = (await refused({ people })).trim().split('\n');
    expect(lines[0]).toMatch(/cannot be applied:$/);
    expect(lines.slice(1, -1).map((line) => line.trim().split(':')[0])).toEqual(
      Array.from({ length: 20 }, (_, n) => `people.${n}.name`),
    );
    expect(lines.at(-1)).toContain('and 30 more');
  });

  test('- reads standard input', async () => {
    const { shell } = await newShell();
    shell.stdin = '{"people":[{"name":"A"}]}';
    expect((await inProcess(shell, 'apply', '-')).stderr).toContain('people.0.name: must be');
    shell.stdin = '{"people":[{"name":"a"}]}';
    expect((await inProcess(shell, 'apply', '-')).stdout).toContain('1 change.');
  });

  test('a mistake in one entry hides no mistake in another, and each has its place in the file', async () => {
    const { refused } = await newShell();
    const said = await refused({
      more: 1,
      realms: ['none'],
      people: [{ name: 'A' }, { name: 'a', password: 'superman' }, { name: 'b' }, { name: 'b' }],
      clients: [{ client_id: 'x' }, { ...APP, client_secret: SECRET }, { ...APP, scope: 'admin' }],
      api_keys: [7, { ...API_KEY, realm: 'none' }, API_KEY, API_KEY],
    });
    const places = said.split('\n').flatMap((line) => /^ {2}([\w.]+): /.exec(line)?.[1] ?? []);
    expect(places.toSorted()).toEqual([
      'api_keys.0',
      'api_keys.1.realm',
      'api_keys.3.id',
      'clients.0.client_name',
      'clients.0.grant_types',
      'clients.1.client_secret',
      'clients.2.scope',
      'more',
      'people.0.name',
      'people.1.password',
      'people.3.name',
      'realms.0',
    ]);
  });

  test('conflicts with the store are reported together, too, twenty at most', async () => {
    const { done, refused } = await newShell();
    await done(FILE);
    const changed = { ...APP, grant_types: ['device_code'] };
    const stranger = (n: number) => ({ ...APP, client_id: `other-${n}`, secret_hash: undefined });
    const said = await refused({ clients: [changed, stranger(1)] });
    expect(said).toContain('the client app cannot change grant_types');
    expect(said).toContain('the client other-1 has no secret');
    const clients = Array.from({ length: 25 }, (_, n) => stranger(n));
    expect((await refused({ clients })).trim().split('\n')).toHaveLength(21);
  });

  test('a file of 10 MB, an endless file and a deeply nested file are refused', async () => {
    const { shell, refused } = await newShell();
    const people = Array.from({ length: 120_000 }, (_, n) => ({
      name: `person-${n}`,
      profile: { display_name: 'x'.repeat(60) },
    }));
    expect(await refused({ people })).toContain('has more than 8,388,608 octets');
    expect(await refused(`{"people":${'['.repeat(1e6)}${']'.repeat(1e6)}}`)).toContain('people');
    expect((await inProcess(shell, 'apply', '/dev/zero')).stderr).toContain('more than 8,388,608');
    expect((await inProcess(shell, 'apply', '/')).code).toBe(1);
  });

  test('a principal of another person is refused before any change', async () => {
    const { shell, refused } = await newShell();
    await json(shell, 'user', 'invite', 'carol');
    await json(shell, 'user', 'kerberos', 'carol', 'alice@EXAMPLE.COM');
    const people = [{ name: 'first' }, { name: 'alice', kerberos: ['alice@EXAMPLE.COM'] }];
    expect(await refused({ people })).toContain("alice@EXAMPLE.COM is alice's in the file");
    expect(await json(shell, 'user', 'list')).toMatchObject([{ name: 'carol' }]);
  });

  test('changes that no client may have are refused', async () => {
    const { done, refused } = await newShell();
    await done(FILE);
    const changed = { ...APP, grant_types: ['device_code'] };
    expect(await refused({ clients: [changed] })).toContain(
      'the client app cannot change grant_types',
    );
  });
});

test('apply --dry-run creates no store, even with --create', async () => {
  const data = join(await temporaryFolder(), 'new');
  const shell = new TestShell({ COUNTERSIGN_DATA: data });
  const { file } = await newShell();
  await writeFile(file, JSON.stringify(FILE));
  const { code, stderr } = await inProcess(shell, 'apply', file, '--create', '--dry-run');
  expect([code, stderr]).toEqual([1, expect.stringContaining('--dry-run makes none')]);
  expect(existsSync(data)).toBe(false);
});

describe('apply and administrators', () => {
  test('the last administrator stays, unless an option allows the removal', async () => {
    const { done, refused } = await newShell();
    await done(FILE);
    const without = [
      { people: [{ name: 'alice' }, { name: 'bob' }] },
      { people: [{ ...ALICE, disabled: true }] },
    ];
    for (const content of without) {
      expect(await refused(content)).toContain('nobody would be an administrator any more');
      expect(await refused(content, '--dry-run')).toContain('nobody would be an administrator');
    }
    expect(await refused({ people: [{ name: 'bob' }] }, '--prune')).toContain('nobody would be');
    const handed = { people: [{ name: 'alice' }, { name: 'bob', admin: true }] };
    expect(await done(handed)).toEqual(['person alice changed', 'person bob changed']);
    expect(await done({ people: [{ name: 'bob' }] }, '--no-administrator')).toEqual([
      'person bob changed',
    ]);
  });

  test('names of Object.prototype are ordinary names', async () => {
    const { shell, done } = await newShell();
    const names = ['constructor', 'tostring', 'hasownproperty', '__proto__'];
    const clients = ['constructor', 'toString', '__proto__'].map((id) =>
      Object.assign({}, APP, { client_id: id }),
    );
    const content = { people: names.map((name) => ({ name })), clients };
    expect(await done(content)).toHaveLength(7);
    expect(await done(content)).toEqual([]);
    expect(await json(shell, 'client', 'show', '__proto__')).toMatchObject({ client_name: 'App' });
    expect(await done({}, '--prune')).toHaveLength(7);
  });
});
