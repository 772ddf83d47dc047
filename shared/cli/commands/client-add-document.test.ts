import { writeFile } from 'node:fs/promises';
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
  test('fetches the description, shows it, and keeps the client', async () => {
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

  test('--json is what the operation says, as client show is', async () => {
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

  test('a note says that no space is opened to such clients', async () => {
    await configured({
      spaces: [{ url: DOCUMENTS, realm: 'documents', schemes: ['Bearer'] }],
    });
    const { stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect(stderr).toContain('Note: no space has documentClients');
  });

  test('a client that a person has let in stays, and is now registered', async () => {
    const document = { fetched: 1, until: 2, changed: 1 };
    const letIn = { ...someClient(url), created_at: 1, document };
    await withStores(shell, async ({ clients }) => clients.add(letIn));
    await json(shell, 'client', 'add', '--document', url);
    expect(await stored()).toMatchObject({ created_at: 1, document: { registered: true } });
  });

  test('a second time it is refused', async () => {
    await json(shell, 'client', 'add', '--document', url);
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`client ${url} is registered already`),
    ]);
  });
});

describe('refusals leave no client', () => {
  test.each([
    ['http://app.example/client', 'must be an https address with a path'],
    ['https://app.example/', 'must be an https address with a path'],
    ['https://app.example/a/../b', 'must be an https address with a path'],
    ['https://10.0.0.1/client', 'must be an https address with a path'],
    ['https://me@app.example/client', 'must be an https address with a path'],
  ])('%s: 2, %s', async (address, words) => {
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
      'client_secret is not as it must be',
    ],
  ])('%s: 2', async (_, change, words) => {
    change();
    const { code, stderr } = await inProcess(shell, 'client', 'add', '--document', url);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--document cannot be used: ')]);
    expect(stderr).toContain(words);
    expect(await stored()).toBeUndefined();
  });

  test('in production an operator cannot make it reach this machine', async () => {
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
  ])('%s beside it is refused before anything is fetched', async (...option) => {
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
