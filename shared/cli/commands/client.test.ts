import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { RESOURCE_SERVER, registration } from '#shared/config/resource-server-client.ts';
import { perform } from '#shared/operations/operation.ts';
import { showClientAccess } from '#shared/operations/clients/client-access.ts';
import { recordConsent } from '#shared/people/access/consents.ts';
import { recordAccess } from '#shared/people/access/grants.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

const MACHINE = ['--name', 'Machine', '--grant', 'client_credentials'];
const SCOPE = ['--scope', 'documents:read documents:write'];
const DOCUMENTS = 'http://localhost:3001/documents/';
const OVER_TLS = 'https://localhost:3443/documents/';

const NAME = ['--name', 'N'];
const GRANT = (...grants: readonly string[]) => grants.flatMap((grant) => ['--grant', grant]);
const CALLBACK = 'https://app.example/callback';
const BROWSER = [
  ...NAME,
  ...GRANT('authorization_code', 'refresh_token'),
  '--public',
  '--redirect-uri',
  CALLBACK,
];
const RELYING = [...NAME, ...GRANT('authorization_code'), '--redirect-uri', CALLBACK];
const DEVICE = [...NAME, ...GRANT('device_code'), '--public'];

/** A placeholder for the path of a file with a public key. */
const JWKS = 'FILE';

const someJwk = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

const newShell = async () => new TestShell(await newData());

const add = async (shell: TestShell, ...args: readonly string[]) =>
  (await json(shell, 'client', 'add', ...MACHINE, ...args)) as Credentials;

const stored = (shell: TestShell, id: string) =>
  withStores(shell, async ({ clients }) => clients.get(id));

const hash = (secret: string) => createHash('sha256').update(secret).digest('base64url');

describe('client add', () => {
  test("--json prints only identifier and secret, and only the secret's hash is stored", async () => {
    const shell = await newShell();
    const { stdout } = await inProcess(shell, 'client', 'add', ...MACHINE, ...SCOPE, '--json');
    expect(stdout).toMatch(/^{"client_id":"[0-9a-f]{32}","client_secret":"[\w-]{43}"}\n$/);
    const { client_id, client_secret } = JSON.parse(stdout) as Credentials;
    expect(await stored(shell, client_id)).toEqual({
      client_id,
      client_name: 'Machine',
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_basic',
      secret_hash: hash(client_secret),
      scope: 'documents:read documents:write',
      id_token_signed_response_alg: 'RS256',
      created_at: shell.clock.now(),
    });
  });

  test('stores every other member as given', async () => {
    const shell = await newShell();
    const rest = ['--auth', 'client_secret_post', '--default-scope', 'documents:read'];
    const places = ['--resource', DOCUMENTS, '--introspects', DOCUMENTS, '--introspects', OVER_TLS];
    const { client_id } = await add(shell, ...SCOPE, ...rest, ...places);
    expect(await stored(shell, client_id)).toMatchObject({
      token_endpoint_auth_method: 'client_secret_post',
      default_scope: 'documents:read',
      resources: [DOCUMENTS],
      introspects: [DOCUMENTS, OVER_TLS],
    });
  });

  test('private_key_jwt: accepts a key of each algorithm in the metadata', async () => {
    const shell = await newShell();
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const alg of ['RS256', 'PS256']) {
      const file = `${shell.env['COUNTERSIGN_DATA']}.${alg}`;
      await writeFile(
        file,
        JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), alg }] }),
      );
      const { client_id } = await add(shell, ...SCOPE, '--auth', 'private_key_jwt', '--jwks', file);
      expect((await stored(shell, client_id))?.jwks?.keys).toMatchObject([{ alg }]);
    }
  });

  test('private_key_jwt: stores the public keys, and there is no secret', async () => {
    const shell = await newShell();
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1' }] };
    const file = `${shell.env['COUNTERSIGN_DATA']}.jwks`;
    await writeFile(file, JSON.stringify(jwks));
    const credentials = await add(shell, ...SCOPE, '--auth', 'private_key_jwt', '--jwks', file);
    expect(Object.keys(credentials)).toEqual(['client_id']);
    const client = await stored(shell, credentials.client_id);
    expect(client?.jwks).toEqual(jwks);
    expect(client?.secret_hash).toBeUndefined();
  });

  test('RFC 9729 section 8: refuses a key by which a person signs in', async () => {
    const shell = await newShell();
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = { ...publicKey.export({ format: 'jwk' }) };
    const file = `${shell.env['COUNTERSIGN_DATA']}.jwks`;
    await writeFile(file, JSON.stringify({ keys: [{ ...jwk, kid: '1' }] }));
    await writeFile(`${file}.key`, JSON.stringify(jwk));
    const app = ['--application', 'App', '--concealed', '--public-key', `${file}.key`];
    const { id } = (await json(shell, 'key', 'add', ...app)) as { id: string };
    const asked = [...MACHINE, ...SCOPE, '--auth', 'private_key_jwt', '--jwks', file];
    const refused = await inProcess(shell, 'client', 'add', ...asked);
    const stderr = `${id} is a key for Concealed: make another\n`;
    expect(refused).toEqual({ code: 1, stdout: '', stderr });
    expect(await json(shell, 'client', 'list')).toEqual([]);
    await json(shell, 'key', 'remove', id);
    expect((await inProcess(shell, 'client', 'add', ...asked)).code).toBe(0);
    const back = await inProcess(shell, 'key', 'add', ...app);
    expect(back.stderr).toContain('is that of a client of the authorization server');
  });

  test.each([
    ['no name', ['--grant', 'client_credentials', ...SCOPE], '--name is missing'],
    ['no grant', ['--name', 'N', ...SCOPE], '--grant is missing'],
    ['no scope', MACHINE, '--scope is missing'],
    ['an unknown grant', ['--name', 'N', '--grant', 'password', ...SCOPE], '--grant must be'],
    [
      'a name with an escape sequence',
      ['--name', 'N\u001b[2J', '--grant', 'client_credentials', ...SCOPE],
      '--name must be',
    ],
    [
      'a name with right-to-left text',
      ['--name', '\u202eN', '--grant', 'client_credentials', ...SCOPE],
      '--name must be',
    ],
    ['an empty name', ['--name', ' ', '--grant', 'client_credentials', ...SCOPE], '--name must be'],
    ['RFC 6749 section 3.3: no scope-token', [...MACHINE, '--scope', 'a"b'], 'is not a scope'],
    [
      'a default beyond the scope',
      [...MACHINE, ...SCOPE, '--default-scope', 'admin'],
      'not within --scope: admin',
    ],
    [
      'a resource that is no space',
      [...MACHINE, ...SCOPE, '--resource', 'https://evil.example/'],
      '--resource must be',
    ],
    ['an audience that is no space', [...MACHINE, '--introspects', 'x'], '--introspects must be'],
    ['an unknown method', [...MACHINE, ...SCOPE, '--auth', 'none'], '--auth must be'],
    ['a grant of JavaScript', [...NAME, '--grant', 'constructor', ...SCOPE], '--grant must be'],
    [
      'RFC 6749 section 4.4: a public machine',
      [...MACHINE, ...SCOPE, '--public'],
      'leave out --grant client_credentials',
    ],
    [
      'a public client that is a machine as well',
      [...BROWSER, ...SCOPE, ...GRANT('client_credentials')],
      'leave out --grant client_credentials',
    ],
    [
      'a public client with a method',
      [...BROWSER, ...SCOPE, '--auth', 'client_secret_post'],
      'leave out --auth',
    ],
    ['a public client with keys', [...BROWSER, ...SCOPE, '--jwks', JWKS], 'leave out --auth'],
    [
      'RFC 7662 section 2.1: introspection by a public client',
      [...BROWSER, ...SCOPE, '--introspects', DOCUMENTS],
      'leave out --public',
    ],
    [
      'one of two audiences that is no space',
      [...MACHINE, '--introspects', DOCUMENTS, '--introspects', 'x'],
      '--introspects must be',
    ],
    [
      'RFC 9700 section 2.1.1: a public client without PKCE',
      [...BROWSER, '--scope', 'openid', '--pkce', 'nonce'],
      'leave out --pkce',
    ],
    [
      'a machine without PKCE',
      [...MACHINE, ...SCOPE, '--pkce', 'nonce'],
      'add --grant authorization_code',
    ],
    [
      'RFC 9700 section 2.1.1: a client without PKCE and without an ID token',
      [...RELYING, ...SCOPE, '--pkce', 'nonce'],
      '--pkce needs openid',
    ],
    [
      'RFC 8252 section 8.6: a native client of the operator’s own',
      [...BROWSER, ...SCOPE, '--native', '--first-party'],
      'leave out --native',
    ],
    [
      'a device of the operator’s own',
      [...NAME, ...GRANT('device_code'), '--public', ...SCOPE, '--first-party'],
      'the device page always asks',
    ],
    [
      'an invalid algorithm',
      [...RELYING, ...SCOPE, '--id-token-alg', 'none'],
      '--id-token-alg must be',
    ],
    [
      'refresh tokens of nothing',
      [...NAME, ...SCOPE, ...GRANT('refresh_token')],
      'add --grant authorization_code',
    ],
    [
      'RFC 6749 section 4.4.3: refresh tokens of a machine',
      [...MACHINE, ...SCOPE, ...GRANT('refresh_token')],
      'add --grant authorization_code',
    ],
    [
      'RFC 6749 section 3.1.2.2: a code without a place to go',
      [...NAME, ...SCOPE, ...GRANT('authorization_code')],
      '--redirect-uri is missing',
    ],
    [
      'a place to go without a code',
      [...DEVICE, ...SCOPE, '--redirect-uri', CALLBACK],
      'add --grant authorization_code',
    ],
    [
      'a place to go after sign-out without a code',
      [...DEVICE, ...SCOPE, '--post-logout-redirect-uri', CALLBACK],
      'add --grant authorization_code',
    ],
    [
      'a redirect URI with a fragment',
      [...BROWSER, ...SCOPE, '--redirect-uri', 'https://app.example/#'],
      'must have no fragment',
    ],
    [
      'a redirect URI of a native application',
      [...BROWSER, ...SCOPE, '--redirect-uri', 'com.example.app:/cb'],
      'need --native',
    ],
    [
      'a way back from sign-out that is http',
      [...BROWSER, ...SCOPE, '--post-logout-redirect-uri', 'http://app.example/'],
      'must be https',
    ],
    [
      'an origin with a slash',
      [...BROWSER, ...SCOPE, '--origin', 'https://a.example/'],
      'must be an origin',
    ],
    ['an origin for all', [...BROWSER, ...SCOPE, '--origin', '*'], 'must be an origin'],
    ['an opaque origin', [...BROWSER, ...SCOPE, '--origin', 'null'], 'must be an origin'],
    [
      'private_key_jwt without keys',
      [...MACHINE, ...SCOPE, '--auth', 'private_key_jwt'],
      'private_key_jwt and --jwks belong together',
    ],
    [
      'keys without private_key_jwt',
      [...MACHINE, ...SCOPE, '--jwks', JWKS],
      'private_key_jwt and --jwks belong together',
    ],
  ])('%s is wrong usage, and no client is added', async (_, args, message) => {
    const shell = await newShell();
    const file = `${shell.env['COUNTERSIGN_DATA']}.jwks`;
    await writeFile(file, JSON.stringify({ keys: [someJwk()] }));
    const given = args.map((arg) => (arg === JWKS ? file : arg));
    const { code, stderr } = await inProcess(shell, 'client', 'add', ...given);
    expect(code).toBe(2);
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining(message),
      'Try: countersign client add --help',
      '',
    ]);
    expect(await json(shell, 'client', 'list')).toEqual([]);
  });

  test('a browser application has no secret, and each member is stored, each value once', async () => {
    const shell = await newShell();
    const places = ['--redirect-uri', CALLBACK, '--redirect-uri', 'http://localhost:8080'];
    const more = ['--post-logout-redirect-uri', CALLBACK, '--origin', 'https://app.example'];
    const scope = ['--scope', 'openid profile offline_access documents:read'];
    const args = ['client', 'add', ...BROWSER, ...places, ...more, ...scope];
    const added = (await json(shell, ...args)) as Credentials;
    expect(shell.stderr).toBe('');
    expect(await stored(shell, added.client_id)).toEqual({
      client_id: added.client_id,
      client_name: 'N',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      scope: 'openid profile offline_access documents:read',
      redirect_uris: [CALLBACK, 'http://localhost:8080'],
      post_logout_redirect_uris: [CALLBACK],
      origins: ['https://app.example'],
      id_token_signed_response_alg: 'RS256',
      created_at: shell.clock.now(),
    });
    expect(Object.keys(added)).toEqual(['client_id']);
  });

  test('a machine for a space without scopes needs no scope', async () => {
    const { COUNTERSIGN_DATA: data } = await newData();
    const open = 'https://open.example/';
    const config = join(data, 'open.json');
    const space = { url: open, realm: 'open', schemes: ['Bearer'], serves: 'verify' };
    await writeFile(config, JSON.stringify({ spaces: [space] }));
    const shell = new TestShell({ COUNTERSIGN_DATA: data, COUNTERSIGN_CONFIG: config });
    expect((await inProcess(shell, 'client', 'add', ...MACHINE)).stderr).toContain('--resource');
    const args = [...MACHINE, '--resource', open];
    const { client_id } = (await json(shell, 'client', 'add', ...args)) as Credentials;
    expect(await stored(shell, client_id)).toMatchObject({ scope: '', resources: [open] });
  });

  test('a relying party may omit PKCE, and gets ID tokens signed with ES256', async () => {
    const shell = await newShell();
    const more = ['--scope', 'openid', '--pkce', 'nonce', '--id-token-alg', 'ES256'];
    const { client_id } = (await json(shell, 'client', 'add', ...RELYING, ...more)) as Credentials;
    expect(await stored(shell, client_id)).toMatchObject({
      pkce: 'nonce',
      id_token_signed_response_alg: 'ES256',
    });
  });

  test('a native application may have its own URI scheme', async () => {
    const shell = await newShell();
    const places = ['--redirect-uri', 'http://127.0.0.1/cb', '--redirect-uri', 'org.example.a:/cb'];
    const args = [...NAME, ...GRANT('authorization_code'), '--public', '--native', ...places];
    const { client_id } = (await json(shell, 'client', 'add', ...args, ...SCOPE)) as Credentials;
    expect(await stored(shell, client_id)).toMatchObject({
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/cb', 'org.example.a:/cb'],
    });
  });

  test.each(['device_code', 'urn:ietf:params:oauth:grant-type:device_code'])(
    'RFC 8628 section 3.4: a device client may be named %s',
    async (grant) => {
      const shell = await newShell();
      const args = [...NAME, ...GRANT(grant, 'device_code', 'refresh_token'), '--public', ...SCOPE];
      const { client_id } = (await json(shell, 'client', 'add', ...args)) as Credentials;
      expect((await stored(shell, client_id))?.grant_types).toEqual([
        'urn:ietf:params:oauth:grant-type:device_code',
        'refresh_token',
      ]);
    },
  );

  test('a server that is both an application and a machine has a secret', async () => {
    const shell = await newShell();
    const args = [...MACHINE, ...GRANT('authorization_code'), '--redirect-uri', CALLBACK, ...SCOPE];
    const added = (await json(shell, 'client', 'add', ...args)) as Credentials;
    expect((await stored(shell, added.client_id))?.secret_hash).toBe(hash(added.client_secret));
  });

  test('warns of OpenID Connect scopes for a machine, which have no effect', async () => {
    const shell = await newShell();
    await add(shell, '--scope', 'openid documents:read');
    expect(shell.stderr).toContain('no space asks for openid;');
  });

  test('warns of a scope that no space needs, and names the needed scopes', async () => {
    const shell = await newShell();
    await add(shell, '--scope', 'document:read');
    expect(shell.stderr).toMatch(
      /no space asks for document:read; .*documents:read.*\. Did you mean documents:read\?/,
    );
  });
});

test('client list shows no hash, escapes control characters, and marks demo clients', async () => {
  const shell = await newShell();
  await withStores(shell, async ({ clients }) =>
    clients.add({
      client_id: 'evil',
      client_name: 'x\nadmin  trusted\u001b[8m',
      grant_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
      secret_hash: hash('s'),
      scope: '',
      demo: true,
      created_at: 0,
    }),
  );
  const { stdout } = await inProcess(shell, 'client', 'list');
  expect(stdout.split('\n')).toHaveLength(3);
  expect(stdout).toContain(String.raw`x\u000aadmin  trusted\u001b[8m`);
  expect(stdout).toContain('demo');
  const listed = (await inProcess(shell, 'client', 'list', '--json')).stdout;
  expect(JSON.parse(listed)).toMatchObject([{ client_id: 'evil', demo: true }]);
  expect(listed).not.toContain(hash('s'));
});

test('client list prints public clients and grants in short lines, and --json includes the addresses', async () => {
  const shell = await newShell();
  await json(shell, 'client', 'add', ...BROWSER, ...SCOPE, '--origin', 'https://b.example');
  const { stdout } = await inProcess(shell, 'client', 'list');
  expect(stdout).toMatch(
    /  public +authorization_code refresh_token  documents:read documents:write\n$/,
  );
  expect(await json(shell, 'client', 'list')).toMatchObject([
    { redirect_uris: [CALLBACK], origins: ['https://b.example'] },
  ]);
});

describe('client secret', () => {
  test('a public client has no secret: exit code 1', async () => {
    const shell = await newShell();
    const { client_id } = (await json(shell, 'client', 'add', ...DEVICE, ...SCOPE)) as Credentials;
    const { code, stderr } = await inProcess(shell, 'client', 'secret', client_id);
    expect([code, stderr]).toEqual([1, `client ${client_id} has no secret: it uses none\n`]);
  });

  const rotate = async (shell: TestShell, id: string, ...args: readonly string[]) =>
    (await json(shell, 'client', 'secret', id, ...args)) as Credentials;

  test.each([
    [[], 86_400],
    [['--overlap', '60'], 60],
    [['--overlap', '2592000'], 2_592_000],
  ])(
    '%j: the old secret stays valid for %i seconds, and nothing else changes',
    async (args, seconds) => {
      const shell = await newShell();
      const old = await add(shell, ...SCOPE);
      const before = await stored(shell, old.client_id);
      const now = await rotate(shell, old.client_id, ...args);
      expect(now.client_secret).not.toBe(old.client_secret);
      expect(await stored(shell, old.client_id)).toEqual({
        ...before,
        secret_hash: hash(now.client_secret),
        former_secret: {
          hash: hash(old.client_secret),
          from: shell.clock.now(),
          until: shell.clock.now() + seconds * 1000,
        },
      });
    },
  );

  test('--overlap 0 revokes the old secret and an even older one', async () => {
    const shell = await newShell();
    const { client_id } = await add(shell, ...SCOPE);
    const before = await stored(shell, client_id);
    await rotate(shell, client_id);
    const { client_secret } = await rotate(shell, client_id, '--overlap', '0');
    expect(await stored(shell, client_id)).toEqual({ ...before, secret_hash: hash(client_secret) });
  });

  test('after two rotations the last two secrets are valid', async () => {
    const shell = await newShell();
    const { client_id } = await add(shell, ...SCOPE);
    const [first, second] = [await rotate(shell, client_id), await rotate(shell, client_id)];
    expect(await stored(shell, client_id)).toMatchObject({
      secret_hash: hash(second.client_secret),
      former_secret: { hash: hash(first.client_secret) },
    });
  });

  test('ten rotations at once: each shown secret works, and other callers get a hint', async () => {
    const shell = await newShell();
    const old = await add(shell, ...SCOPE);
    const { client_id } = old;
    const shells = Array.from({ length: 10 }, () => new TestShell(shell.env));
    const ended = await Promise.all(
      shells.map((each) => inProcess(each, 'client', 'secret', client_id, '--json')),
    );
    const now = await stored(shell, client_id);
    const good = [now?.secret_hash, now?.former_secret?.hash];
    const told = ended.filter(({ code }) => code === 0).map(({ stdout }) => JSON.parse(stdout));
    expect(told.length).toBeGreaterThan(0);
    expect(told.map(({ client_secret }) => hash(client_secret))).toContain(now?.secret_hash);
    if (told.length === 1) expect(good).toContain(hash(old.client_secret));
    for (const { code, stderr } of ended) {
      if (code !== 0) expect(stderr).toContain('was changed or removed meanwhile');
    }
  });

  test.each(['-1', '1.5', '2592001', 'day'])(
    '--overlap %s: exit code 2, and nothing changes',
    async (overlap) => {
      const shell = await newShell();
      const { client_id } = await add(shell, ...SCOPE);
      const before = await stored(shell, client_id);
      const args = ['client', 'secret', client_id, `--overlap=${overlap}`];
      expect((await inProcess(shell, ...args)).code).toBe(2);
      expect(await stored(shell, client_id)).toEqual(before);
    },
  );

  test('shows neither hash', async () => {
    const shell = await newShell();
    const old = await add(shell, ...SCOPE);
    const now = await rotate(shell, old.client_id);
    for (const args of [['list'], ['list', '--json'], ['show', old.client_id, '--json']]) {
      const { stdout } = await inProcess(shell, 'client', ...args);
      for (const { client_secret } of [old, now]) {
        expect(stdout).not.toContain(hash(client_secret));
        expect(stdout).not.toContain(client_secret);
      }
    }
    const { stdout } = await inProcess(shell, 'client', 'show', old.client_id);
    expect(stdout).toMatch(/^old secret ends: \d{4}-/m);
  });

  test('an unknown client: exit code 1', async () => {
    const ended = await inProcess(await newShell(), 'client', 'secret', 'nobody');
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'there is no client nobody\n' });
  });
});

describe("the resource server's built-in client", () => {
  async function shellWithIt() {
    const shell = await newShell();
    const client = registration('http://localhost:3001/', Buffer.alloc(32, 7), shell.clock);
    await withStores(shell, ({ clients }) => clients.add(client));
    return { shell, client };
  }

  test('refuses a new secret, which both servers would not know: exit code 1', async () => {
    const { shell, client } = await shellWithIt();
    for (const args of [[], ['--json']]) {
      expect(await inProcess(shell, 'client', 'secret', RESOURCE_SERVER, ...args)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('its secret follows from the master secret'),
      });
    }
    expect(await stored(shell, RESOURCE_SERVER)).toEqual(client);
  });

  test('can be removed', async () => {
    const { shell } = await shellWithIt();
    expect((await inProcess(shell, 'client', 'remove', RESOURCE_SERVER)).code).toBe(0);
    const { stderr } = await inProcess(shell, 'client', 'secret', RESOURCE_SERVER);
    expect(stderr).toBe('there is no client resource-server\n');
  });
});

describe('client access, client end', () => {
  const DOCUMENT = 'https://agent.example/client.json';

  /** A client with grants of alice and bob, and with a consent of alice. */
  async function used(id: string) {
    const shell = await newShell();
    const alice = (await json(shell, 'user', 'invite', 'alice')) as { id: string };
    await withPeople(shell, async (store) => {
      await store.stores.clients.add({ ...someClient(id), client_name: 'Used' });
      const members = { clientId: id, generation: 0, clientGeneration: 0, since: 1 };
      for (const [n, accountId] of [alice.id, alice.id, 'gone'].entries()) {
        const grantId = `grant-${n}`;
        const payload = { openid: { scope: 'openid' } };
        await store.stores.artefacts.put({ kind: 'Grant', id: grantId, payload, seconds: 900 });
        const device = { address: '192.0.2.1', agent: 'TV \u001b[2J' };
        await recordAccess(store, { ...members, grantId, accountId, device }, 900 - n);
      }
      const decided = { allowed: { '': ['openid'] }, refused: {} };
      const consent = { ...members, ...decided, accountId: alice.id, redirectHost: 'a.example' };
      await recordConsent(store, consent, { scope: 'openid' }, 900);
    });
    const left = () =>
      withStores(shell, async ({ artefacts }) => {
        const kinds = ['Access', 'Consent'].map((kind) =>
          artefacts.pageByClient(kind, id, { limit: 9 }),
        );
        return (await Promise.all(kinds)).map(({ found }) => found.length);
      });
    return { shell, alice: alice.id, left };
  }

  test.each([['app'], [DOCUMENT]])('lists the grants of %s with person and scope', async (id) => {
    const { shell, alice } = await used(id);
    const shown = { scopes: { '': ['openid'] }, since: 1, device: { address: '192.0.2.1' } };
    expect(await json(shell, 'client', 'access', id)).toMatchObject([
      { ...shown, id: 'grant-0', person: alice, name: 'alice' },
      { ...shown, id: 'grant-1', person: alice, name: 'alice' },
      { ...shown, id: 'grant-2', person: 'gone' },
    ]);
    const { stdout } = await inProcess(shell, 'client', 'access', id);
    expect(stdout).toMatch(/^ID +PERSON .*\ngrant-0 +alice .*\n.*\ngrant-2 +\(removed\) .*\n$/);
    expect(stdout).not.toContain('\u001b');
  });

  test('pages continue after the previous one, and any other position is refused', async () => {
    const { shell } = await used('app');
    await withPeople(shell, async (store) => {
      const page = (after?: string) =>
        perform(showClientAccess, { client_id: 'app', limit: 2, after }, store);
      const first = await page();
      const second = await page(first.next);
      const ids = [first, second].map(({ items }) => items.map((item) => item.id));
      expect(ids).toEqual([['grant-0', 'grant-1'], ['grant-2']]);
      expect(second.next).toBeUndefined();
      for (const after of [
        '',
        'x',
        '[]',
        '[1]',
        '[-1,"a"]',
        '["1","a"]',
        '[1.5,"a"]',
        '[1e999,""]',
      ]) {
        await expect(page(after)).rejects.toMatchObject({ name: 'InputError', path: ['after'] });
      }
    });
  });

  test('revokes one grant, and no grant of another client or an unknown grant', async () => {
    const { shell, left } = await used('app');
    await withStores(shell, ({ clients }) => clients.add(someClient('other')));
    for (const [id, grant] of [
      ['other', 'grant-0'],
      ['app', 'nothing'],
    ] as const) {
      const refused = await inProcess(shell, 'client', 'end', id, '--grant', grant);
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`no grant ${grant}`),
      });
    }
    const ended = { client_id: 'app', grant: 'grant-1', ended: true };
    expect(await json(shell, 'client', 'end', 'app', '--grant', 'grant-1')).toEqual(ended);
    expect(await left()).toEqual([2, 1]);
    expect((await inProcess(shell, 'client', 'end', 'app', '--grant', 'grant-1')).code).toBe(1);
  });

  test('revokes all grants, and the client stays', async () => {
    const { shell, left } = await used('app');
    expect(await json(shell, 'client', 'end', 'app')).toEqual({ client_id: 'app', ended: true });
    expect(await left()).toEqual([0, 0]);
    expect(await stored(shell, 'app')).toMatchObject({ client_id: 'app' });
    expect((await inProcess(shell, 'client', 'access', 'app')).stdout).toBe(
      'Nobody has given app a grant that still lives.\n',
    );
    const { stdout } = await inProcess(shell, 'audit', 'list', '--client', 'app', '--json');
    expect(stdout.match(/"kind":"client.ended"/g)).toHaveLength(1);
  });

  test('a built-in client keeps its generation, which its registration uses; its grants are revoked one by one', async () => {
    const { shell, left } = await used(RESOURCE_SERVER);
    const { code, stderr } = await inProcess(shell, 'client', 'end', RESOURCE_SERVER);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is built in')]);
    expect(await left()).toEqual([3, 1]);
    const one = ['--grant', 'grant-0'];
    expect((await inProcess(shell, 'client', 'end', RESOURCE_SERVER, ...one)).code).toBe(0);
    expect(await left()).toEqual([2, 1]);
  });

  test('a removed client leaves no grant and no consent', async () => {
    const { shell, left } = await used('app');
    await json(shell, 'client', 'remove', 'app');
    expect(await left()).toEqual([0, 0]);
  });
});

describe('client remove', () => {
  test('raises the generation before and after the removal, so that no token stays valid', async () => {
    const shell = await newShell();
    const { client_id } = await add(shell, ...SCOPE);
    const removed = { client_id, client_name: 'Machine', removed: true };
    expect(await json(shell, 'client', 'remove', client_id)).toEqual(removed);
    await withStores(shell, async ({ clients, revocations }) => {
      expect(await clients.get(client_id)).toBeUndefined();
      expect(await revocations.generation('client', client_id)).toBe(2);
    });
  });

  test('an unknown client: exit code 1, and nothing is revoked', async () => {
    const shell = await newShell();
    expect((await inProcess(shell, 'client', 'remove', 'nobody')).code).toBe(1);
    await withStores(shell, async ({ revocations }) => {
      expect(await revocations.generation('client', 'nobody')).toBe(0);
    });
  });
});
