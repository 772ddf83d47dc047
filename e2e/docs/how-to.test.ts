import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { examples, runCommands } from '../pair/examples.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';

/** The commands of pages in docs/how-to, as they stand there. */
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair[Symbol.asyncDispose]());

async function printed(page: string, info: string): Promise<readonly string[]> {
  const blocks = await examples(`docs/how-to/${page}`, info);
  return runCommands(pair, blocks.join('').replaceAll('/var/backups', pair.data));
}

test('people: added, told of, ended, disabled and removed', async () => {
  const [added, , shown, access, ended, , , , removed] = await printed('people.md', 'sh people');
  expect(added).toContain('alice');
  expect(shown).toContain('alice@example.com');
  expect(access).toContain('alice');
  expect(ended).toContain('alice');
  expect(removed).toContain('alice');
});

test('clients: a machine gets a token, an application is registered, a secret overlaps', async () => {
  const [machine = '', application, , shown, set, secret = ''] = await printed(
    'clients.md',
    'sh clients',
  );
  const { client_id: id, client_secret: made } = JSON.parse(machine) as Record<string, string>;
  const { status } = await pair.post(
    '/token',
    { grant_type: 'client_credentials' },
    { id: String(id), secret: String(made) },
  );
  expect(status).toBe(200);
  expect(application).toMatch(/^client_id: \w+\n$/);
  expect(shown).toContain('demo-machine');
  expect(set).toContain('demo-machine');
  expect(JSON.parse(secret)).toHaveProperty('client_secret');
});

test.each(['keycloak', 'hydra'])('the commands of coming-from-%s.md succeed', async (name) => {
  const output = await printed(`coming-from-${name}.md`, `sh ${name}`);
  expect(output.join('')).toContain('client_id');
});

test('follow revocations: by introspection and by the feed', async () => {
  const clients = (await printed('follow-revocations.md', 'sh follow')).map(
    (line) => JSON.parse(line) as Record<string, string>,
  );
  const [api, follower] = clients.map((client) => ({
    id: String(client['client_id']),
    secret: String(client['client_secret']),
  }));
  if (api === undefined || follower === undefined) throw new Error('The page registers two.');
  const machine = await pair.addClient();
  const token = await pair.token(machine);
  const active = async () =>
    (await pair.post('/token/introspection', { token }, api)).body['active'];
  const feed = { authorization: `Bearer ${await pair.token(follower)}` };
  const read = async (query: string) =>
    (await fetch(`${pair.issuer}/revocations?${query}`, { headers: feed })).json() as Promise<
      Record<string, unknown>
    >;
  expect(await active()).toBe(true);
  const before = await read('wait=0');
  await pair.post('/token/revocation', { token }, machine);
  expect(await active()).toBe(false);
  expect(before).toMatchObject({ epoch: expect.any(String), lease: expect.any(Number) });
  const after = await read(`after=${String(before['cursor'])}&wait=1`);
  expect(after['entries']).toEqual([expect.objectContaining({ kind: 'token' })]);
});

test('keys: the key of a token that is dropped ends the token', async () => {
  const machine = await pair.addClient();
  const token = await pair.token(machine);
  const ask = () => fetch(pair.documents, { headers: { authorization: `Bearer ${token}` } });
  expect((await ask()).status).toBe(200);
  const [listed, rotated] = await printed('keys.md', 'sh keys');
  expect(listed).toContain('ES256');
  expect(rotated).toMatch(/\w/);
  expect((await ask()).status).toBe(401);
});

test('backup: the store is in the folder', async () => {
  const folder = join(pair.data, 'countersign');
  await printed('backup-restore-upgrade.md', 'sh backup');
  expect((await stat(join(folder, 'state.db'))).size).toBeGreaterThan(0);
  await rm(folder, { recursive: true });
});
