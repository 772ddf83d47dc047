import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type DocumentServer,
  documentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { addClient } from '#shared/operations/clients/client-add.ts';
import { showClient } from '#shared/operations/clients/client-show.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

const DOCUMENTS = 'http://localhost:3001/documents/';

let site: DocumentServer;
let shell: TestShell;
let url: string;
let made = 0;

beforeAll(async () => {
  site = await documentServer();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});
beforeEach(async () => {
  shell = new TestShell(await newData());
  url = `${site.origin}/client-${(made += 1)}`;
  site.documents.set(new URL(url).pathname, webDocument(url));
});

const stored = () => withStores(shell, ({ clients }) => clients.get(url));

async function configured(settings: object): Promise<void> {
  const file = `${shell.env['COUNTERSIGN_DATA']}.json`;
  await writeFile(file, JSON.stringify(settings));
  shell = new TestShell({ ...shell.env, COUNTERSIGN_CONFIG: file });
}

describe('client add --document (draft-ietf-oauth-client-id-metadata-document section 6.10)', () => {
  test('fetches the document, shows it, and stores the client', async () => {
    const { code, stdout } = await inProcess(shell, 'client', 'add', '--document', url);
    expect(code).toBe(0);
    expect(stdout).toContain(`client_id: ${url}\nname: Notes\n`);
    expect(stdout).toContain('redirect URI: https://notes.example/callback');
    expect(stdout).toContain('named by an operator: yes');
    expect(await stored()).toMatchObject({
      client_name: 'Notes',
      token_endpoint_auth_method: 'none',
      scope: '',
      document: { registered: true },
    });
  });

  test("--json prints the operation's output, which client show prints, too", async () => {
    const told = await json(shell, 'client', 'add', '--document', url);
    expect(addClient.output.parse(told)).toEqual(told);
    expect(told).toMatchObject({
      client_id: url,
      client: { scope: 'documents:read openid profile email offline_access' },
    });
    const shown = await json(shell, 'client', 'show', url);
    expect(showClient.output.parse(shown)).toEqual(shown);
    expect(shown).toEqual((told as { readonly client: object }).client);
  });

  test('warns if no space is open to such clients', async () => {
    await configured({
      spaces: [{ url: DOCUMENTS, realm: 'documents', schemes: ['Bearer'] }],
    });
    const { stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect(stderr).toContain('Note: no space has documentClients');
  });

  test('registers a client that a person has already allowed', async () => {
    const document = { fetched: 1, until: 2, changed: 1 };
    const letIn = { ...someClient(url), created_at: 1, document };
    await withStores(shell, async ({ clients }) => clients.add(letIn));
    await json(shell, 'client', 'add', '--document', url);
    expect(await stored()).toMatchObject({ created_at: 1, document: { registered: true } });
  });

  test('RFC 9729 section 8: refuses a key by which a person signs in, and accepts a key that only a document names', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwk = { ...publicKey.export({ format: 'jwk' }) };
    const members = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } };
    site.documents.set(new URL(url).pathname, webDocument(url, members));
    await json(shell, 'client', 'add', '--document', url);
    const file = `${shell.env['COUNTERSIGN_DATA']}.key`;
    await writeFile(file, JSON.stringify(jwk));
    const key = ['--public-key', file, '--name', 'Laptop'];
    await json(shell, 'key', 'add', '--application', 'App', '--concealed', ...key);
    await json(shell, 'client', 'remove', url);
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a key for Concealed')]);
    expect(await stored()).toBeUndefined();
  });

  test('takes no rules from the document, and client set refuses rules for it', async () => {
    const rules = { claim_rules: ['role="admin"'], allow_groups: ['staff'], minimum_acr: 'x' };
    site.documents.set(new URL(url).pathname, webDocument(url, rules));
    await json(shell, 'client', 'add', '--document', url);
    const before = await stored();
    for (const member of Object.keys(rules)) expect(before).not.toHaveProperty(member);
    for (const rule of [
      ['--claim', 'role=admin'],
      ['--allow-group', 'staff'],
    ]) {
      const { code, stderr } = await inProcess(shell, 'client', 'set', url, ...rule);
      expect([code, stderr]).toEqual([1, expect.stringContaining('add one with these settings')]);
    }
    expect(await stored()).toEqual(before);
  });

  test('refuses a client that is registered already', async () => {
    await json(shell, 'client', 'add', '--document', url);
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`client ${url} is registered already`),
    ]);
  });
});

describe('a refused client add --document stores no client', () => {
  test.each([
    ['http://app.example/client', 'must be an https address with a path'],
    ['https://app.example/', 'must be an https address with a path'],
    ['https://app.example/a/../b', 'must be an https address with a path'],
    ['https://10.0.0.1/client', 'must be an https address with a path'],
    ['https://me@app.example/client', 'must be an https address with a path'],
  ])('%s: exit code 2, %s', async (address, words) => {
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', address);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--document ${words}`)]);
  });

  test.each([
    ['no document', () => site.documents.delete(new URL(url).pathname), 'answered 404'],
    [
      'the document of another',
      () => site.documents.set(new URL(url).pathname, webDocument(`${url}/other`)),
      'client_id is not the address of the document',
    ],
    [
      'a secret',
      () => site.documents.set(new URL(url).pathname, webDocument(url, { client_secret: 'a' })),
      'client_secret must not be there',
    ],
  ])('%s: exit code 2', async (_, change, words) => {
    change();
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--document cannot be used: ')]);
    expect(stderr).toContain(words);
    expect(await stored()).toBeUndefined();
  });

  test('in production a document on this machine is refused', async () => {
    await configured({
      issuer: 'https://auth.example',
      resource: 'https://api.example',
      clients: { documents: 'allow' },
    });
    shell.env['COUNTERSIGN_SECRET'] = 'a'.repeat(64);
    site.asked.length = 0;
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([2, expect.stringContaining('does not permit it')]);
    expect(site.asked).toEqual([]);
  });

  test.each([
    ['--name', 'Other'],
    ['--grant', 'authorization_code'],
    ['--scope', 'documents:write'],
    ['--redirect-uri', 'https://app.example/callback'],
    ['--first-party'],
    ['--admin'],
    ['--public'],
  ])('%s beside --document is refused before any request', async (...option) => {
    site.asked.length = 0;
    const args = ['client', 'add', '--document', url, ...option];
    const { code, stderr } = await inProcess(shell, ...args);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${option[0]} is what the document says: leave it out`),
    ]);
    expect(site.asked).toEqual([]);
  });
});

describe('apply with client documents', () => {
  let file: string;

  /** Applies a file with these clients; returns the changes. */
  async function applied(clients: readonly object[], ...options: readonly string[]) {
    file = `${shell.env['COUNTERSIGN_DATA']}.declared`;
    await writeFile(file, JSON.stringify({ clients }));
    const told = await json(shell, 'apply', file, ...options);
    return (told as { readonly changes: readonly { name: string; change: string }[] }).changes;
  }

  async function refused(clients: readonly object[]): Promise<string> {
    file = `${shell.env['COUNTERSIGN_DATA']}.declared`;
    await writeFile(file, JSON.stringify({ clients }));
    const { code, stderr } = await inProcess(shell, 'apply', file);
    expect(code).toBe(1);
    expect(await stored()).toBeUndefined();
    return stderr;
  }

  test('registers a client by its document; a second run fetches and changes nothing', async () => {
    const dry = await applied([{ document: url }], '--dry-run');
    expect(dry).toMatchObject([{ kind: 'client', name: url, change: 'added' }]);
    expect(await stored()).toBeUndefined();
    expect(await applied([{ document: url }])).toEqual(dry);
    expect(await stored()).toMatchObject({ client_name: 'Notes', document: { registered: true } });
    site.asked.length = 0;
    expect(await applied([{ document: url }])).toEqual([]);
    expect(site.asked).toEqual([]);
  });

  test('--prune removes such a client, and no other client', async () => {
    await applied([{ document: url }]);
    const other = `${url}/other`;
    site.documents.set(new URL(other).pathname, webDocument(other));
    await json(shell, 'client', 'add', '--document', other);
    expect(await applied([])).toEqual([]);
    expect(await applied([], '--prune')).toMatchObject([{ name: url, change: 'removed' }]);
    expect(await stored()).toBeUndefined();
    expect(await withStores(shell, ({ clients }) => clients.get(other))).toBeDefined();
  });

  test('registers a client that a person has allowed, and does not prune it', async () => {
    const document = { fetched: 1, until: 2, changed: 1 };
    const letIn = { ...someClient(url), created_at: 1, document };
    await withStores(shell, async ({ clients }) => clients.add(letIn));
    expect(await applied([{ document: url }])).toMatchObject([{ change: 'changed' }]);
    expect(await stored()).toMatchObject({ created_at: 1, document: { registered: true } });
    expect(await applied([], '--prune')).toEqual([]);
  });

  test('`directory export --declared` contains the client, but no client that only people have allowed', async () => {
    await applied([{ document: url }]);
    const document = { fetched: 1, until: 2, changed: 1 };
    await withStores(shell, async ({ clients }) =>
      clients.add({ ...someClient(`${url}/let-in`), document }),
    );
    await json(shell, 'directory', 'export', `${file}.out`, '--declared');
    const { clients } = JSON.parse(await readFile(`${file}.out`, 'utf8')) as { clients: object[] };
    expect(clients).toEqual([{ document: url }]);
    const again = await inProcess(shell, 'apply', `${file}.out`);
    expect(again.stdout).toBe('Nothing to change.\n');
  });

  test('changes nothing if a document is unusable', async () => {
    const gone = `${url}/gone`;
    expect(await refused([{ document: url }, { document: gone }])).toContain(
      `the document ${gone} cannot be used: `,
    );
  });

  test.each<[string, () => readonly object[], string]>([
    [
      'another address',
      () => [{ document: 'http://app.example/client' }],
      'clients.0.document: must be an https address with a path',
    ],
    [
      'another member beside it',
      () => [{ document: url, client_name: 'Notes' }],
      'clients.0.client_name: does not go with the other settings here: remove it',
    ],
    [
      'a misspelt member',
      () => [{ documents: url }],
      'clients.0.documents: is not a setting: remove it, or did you mean document?',
    ],
    [
      'the same twice',
      () => [{ document: url }, { document: url }],
      'clients.1.document: is that of an earlier entry',
    ],
  ])('reports %s as a mistake of the file', async (_what, clients, words) => {
    expect(await refused(clients())).toContain(words);
  });

  test('warns if no space is open to such clients', async () => {
    await configured({ spaces: [{ url: DOCUMENTS, realm: 'documents', schemes: ['Bearer'] }] });
    await applied([{ document: url }]);
    const { stderr } = await inProcess(shell, 'apply', file);
    expect(stderr).toContain('Note: no space has documentClients');
  });
});
