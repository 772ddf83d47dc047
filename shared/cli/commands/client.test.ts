import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../with-stores.ts';

const MACHINE = ['--name', 'Machine', '--grant', 'client_credentials'];
const SCOPE = ['--scope', 'documents:read documents:write'];
const DOCUMENTS = 'http://localhost:3001/documents/';

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
  test('--json prints the identifier and the secret and nothing else; the hash alone is stored', async () => {
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
      created_at: shell.clock.now(),
    });
  });

  test('every other member is kept as it was given', async () => {
    const shell = await newShell();
    const rest = ['--auth', 'client_secret_post', '--default-scope', 'documents:read'];
    const places = ['--resource', DOCUMENTS, '--introspects', DOCUMENTS];
    const { client_id } = await add(shell, ...SCOPE, ...rest, ...places);
    expect(await stored(shell, client_id)).toMatchObject({
      token_endpoint_auth_method: 'client_secret_post',
      default_scope: 'documents:read',
      resources: [DOCUMENTS],
      introspects: DOCUMENTS,
    });
  });

  test('private_key_jwt: the public keys are kept and there is no secret', async () => {
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

  test.each([
    ['no name', ['--grant', 'client_credentials', ...SCOPE], '--name NAME is missing'],
    ['no grant', ['--name', 'N', ...SCOPE], '--grant GRANT is missing'],
    ['nothing it could do', MACHINE, '--scope is missing'],
    [
      'a grant that there is not',
      ['--name', 'N', '--grant', 'password', ...SCOPE],
      '--grant must be',
    ],
    [
      'a name with an escape sequence',
      ['--name', 'N\u001b[2J', '--grant', 'client_credentials', ...SCOPE],
      '--name must be',
    ],
    [
      'a name that reads backwards',
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
    ['a method that there is not', [...MACHINE, ...SCOPE, '--auth', 'none'], '--auth must be'],
    [
      'private_key_jwt without keys',
      [...MACHINE, ...SCOPE, '--auth', 'private_key_jwt'],
      '--jwks FILE belongs',
    ],
    ['keys without private_key_jwt', [...MACHINE, ...SCOPE, '--jwks', 'x'], '--jwks FILE belongs'],
  ])('%s is wrong usage, and nothing is added', async (_, args, message) => {
    const shell = await newShell();
    const { code, stderr } = await inProcess(shell, 'client', 'add', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(await json(shell, 'client', 'list')).toEqual([]);
  });

  test('a scope that no space asks for is noted, and what they ask for', async () => {
    const shell = await newShell();
    await add(shell, '--scope', 'document:read');
    expect(shell.stderr).toMatch(/no space asks for document:read; .*documents:read/);
  });
});

test('client list: no hash; a name with control characters cannot forge a line; demo clients are marked', async () => {
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
  expect(stdout.split('\n')).toHaveLength(2);
  expect(stdout).toContain(String.raw`x\u000aadmin  trusted\u001b[8m`);
  expect(stdout).toContain('demo');
  const listed = (await inProcess(shell, 'client', 'list', '--json')).stdout;
  expect(JSON.parse(listed)).toMatchObject([{ client_id: 'evil', demo: true }]);
  expect(listed).not.toContain(hash('s'));
});

describe('client secret', () => {
  test('the new secret replaces the old one, nothing else changes', async () => {
    const shell = await newShell();
    const old = await add(shell, ...SCOPE);
    const before = await stored(shell, old.client_id);
    const now = (await json(shell, 'client', 'secret', old.client_id)) as Credentials;
    expect(now.client_secret).not.toBe(old.client_secret);
    expect(await stored(shell, old.client_id)).toEqual({
      ...before,
      secret_hash: hash(now.client_secret),
    });
  });

  test('a client that there is not: 1', async () => {
    const ended = await inProcess(await newShell(), 'client', 'secret', 'nobody');
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'there is no client nobody\n' });
  });
});

describe('client remove', () => {
  test('its generation is raised before it is gone and after, so that no token lives', async () => {
    const shell = await newShell();
    const { client_id } = await add(shell, ...SCOPE);
    expect(await json(shell, 'client', 'remove', client_id)).toEqual({ client_id, removed: true });
    await withStores(shell, async ({ clients, revocations }) => {
      expect(await clients.get(client_id)).toBeUndefined();
      expect(await revocations.generation('client', client_id)).toBe(2);
    });
  });

  test('a client that there is not: 1, and nothing is revoked', async () => {
    const shell = await newShell();
    expect((await inProcess(shell, 'client', 'remove', 'nobody')).code).toBe(1);
    await withStores(shell, async ({ revocations }) => {
      expect(await revocations.generation('client', 'nobody')).toBe(0);
    });
  });
});
