/** @slow */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { withTour } from '#shared/config/tour.ts';
import { parseApiKey } from '#shared/people/api-key.ts';
import { localDirectory } from '#shared/people/local.ts';
import { localVerifiers } from '#shared/people/local-verifiers.ts';
import { createPasswords } from '#shared/people/password.ts';
import { systemRandom } from '#shared/base/random.ts';
import { everybodyIn } from '#shared/stores/contract/samples.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { firstStart } from './first-start.ts';

const opened: Stores[] = [];
const passwords = createPasswords();

afterAll(async () => {
  for (const stores of opened) await stores[Symbol.asyncDispose]();
});

/** Returns an authorization server that is about to start with the store in `folder`, and keeps files in `data`. */
async function server(folder?: string, data?: string, spaces?: readonly object[]) {
  const place = folder ?? (await temporaryFolder());
  const parsed = configSchema.parse({ data: data ?? place, spaces });
  const config = spaces ? parsed : withTour(parsed);
  const clock = new ManualClock();
  const stores = await openSqlite({ folder: place, clock, random: systemRandom });
  opened.push(stores);
  const file = join(config.data, 'first-start.txt');
  return {
    folder: place,
    file,
    stores,
    clock,
    start: () =>
      firstStart({ config, stores, clock, random: systemRandom, passwords, longestLife: 605 }),
    kept: () => readFile(file, 'utf8'),
  };
}

/** Returns the names of the clients and people in the store. */
const there = async ({ clients, people }: Stores) => [
  ...(await clients.list()).map(({ client_id }) => client_id),
  ...(await everybodyIn({ people })).map(({ name }) => name),
];
const ALL = ['demo-browser', 'demo-device', 'demo-machine', 'demo'];

const value = (text: string, name: string) =>
  new RegExp(String.raw`^${name} +(\S+)$`, 'm').exec(text)?.[1] ?? '';

test('the person can sign in by every scheme of the realms with stored passwords or keys, and by none in production', async () => {
  const { start, kept, stores } = await server();
  await start();
  const password = value(await kept(), 'password');
  const ask = (demo: boolean, kind: string, realm: string) =>
    localVerifiers({ people: stores.people, admitted: { demo, sources: new Set() } }).find(
      kind,
      realm,
      { name: 'demo' },
    );
  const h = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(await ask(true, 'digest SHA-256', 'digest')).toMatchObject({
    value: h(`demo:digest:${password}`),
  });
  expect(await ask(true, 'scram SHA-256', ALL_REALMS)).toBeDefined();
  expect(await ask(false, 'digest SHA-256', 'digest')).toBeUndefined();
  expect(await kept()).toContain(
    `curl -i --digest -u demo:${password} http://localhost:3001/schemes/digest/\n`,
  );
  expect(await kept()).toContain(
    `curl -i --basic -u demo:${password} http://localhost:3001/schemes/basic/\n`,
  );
});

test('the line with the API key has the stored key, which is marked as a demo', async () => {
  const { start, kept, stores } = await server();
  await start();
  const [, text = ''] =
    /^curl -i -H "X-API-Key: (\S+)" http:\/\/localhost:3001\/schemes\/api-key\/$/m.exec(
      await kept(),
    ) ?? [];
  const { id = '', secret = '' } = parseApiKey(text) ?? {};
  expect(await stores.apiKeys.list()).toEqual([await stores.apiKeys.get(id)]);
  expect(await stores.apiKeys.get(id)).toMatchObject({
    application: 'demo-application',
    realm: 'api-key',
    secret_hash: createHash('sha256').update(secret).digest('base64url'),
    demo: true,
  });
});

test('with PostgreSQL and without a folder the secrets are stored in a new private folder', async () => {
  const data = join(await temporaryFolder(), 'none', 'yet');
  const { start, kept } = await server(undefined, data);
  await start();
  expect(value(await kept(), 'password')).not.toBe('');
  expect((await stat(data)).mode & 0o777).toBe(0o700);
});

test('a person who was removed is not created again', async () => {
  const { start, stores, clock } = await server();
  await start();
  const demo = await stores.people.getByName('demo');
  expect(await stores.people.remove(demo ?? { id: '', version: 0 })).toBe(true);
  clock.advance(3600);
  expect((await start()).lines).toBeUndefined();
  expect(await stores.people.getByName('demo')).toBeUndefined();
});

test('a configuration without these schemes gets no key, and no line that would be refused', async () => {
  const space = { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Basic', 'DPoP'] };
  const { start, kept, stores } = await server(undefined, undefined, [space]);
  await start();
  expect(await stores.apiKeys.list()).toEqual([]);
  expect((await kept()).match(/^curl .*/gm)).toEqual([expect.stringContaining('Bearer')]);
  const { id = '' } = (await stores.people.getByName('demo')) ?? {};
  expect(await stores.people.getWhole(id)).toMatchObject({ verifiers: [] });
});

test('a person and three clients are created outside of production, with working secrets that only the owner can read', async () => {
  const { start, kept, stores, file } = await server();
  const { firstStart: named, lines } = await start();
  expect(named).toBe(file);
  expect(lines?.join('\n')).toContain((await kept()).trim());
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await there(stores)).toEqual(ALL);
  expect((await stores.clients.list()).every(({ demo }) => demo)).toBe(true);

  const password = value(await kept(), 'password');
  const enters = (demo: boolean) =>
    localDirectory({ ...stores, passwords, admitted: { demo, sources: new Set() } }).authenticate(
      'demo',
      password,
      ALONE,
    );
  expect(await enters(true)).toMatchObject({ name: 'demo', generation: 0 });
  expect(await enters(false)).toBeUndefined();
});

test('each client has its grants and scopes', async () => {
  const { start, stores } = await server();
  await start();
  const scopes = 'documents:read documents:write';
  const forPeople = {
    token_endpoint_auth_method: 'none',
    scope: `openid profile ${scopes} offline_access private-token hidden:read hidden:write push`,
    default_scope: `openid profile ${scopes}`,
  };
  expect(await stores.clients.get('demo-machine')).toMatchObject({
    grant_types: ['client_credentials'],
    scope: scopes,
  });
  expect(await stores.clients.get('demo-browser')).toMatchObject({
    ...forPeople,
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['http://localhost:8080/', 'http://127.0.0.1:8080/'],
    origins: ['http://localhost:8080', 'http://127.0.0.1:8080'],
  });
  expect(await stores.clients.get('demo-device')).toMatchObject({
    ...forPeople,
    client_name: 'Countersign CLI',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
  });
});

test('the stored secret belongs to the machine, and the pasted lines run only curl and sed', async () => {
  const { start, kept, folder } = await server();
  await start();
  const secrets = [...(await kept()).matchAll(/^client_secret +(\S+)$/gm)];
  expect(secrets).toHaveLength(1);
  // These commands write how they are called, in place of every command that the shell could find.
  const log = join(folder, 'called');
  const called = `#!/bin/sh\necho "\${0##*/} $*" >> '${log}'\n`;
  for (const name of ['curl', 'sed', 'npm']) {
    await writeFile(join(folder, name), called, { mode: 0o755 });
  }
  const env = { PATH: `${folder}:/nowhere` };
  await promisify(execFile)('/bin/bash', [join(folder, 'first-start.txt')], { env }).catch(
    () => {},
  );
  const calls = (await readFile(log, 'utf8')).trim().split('\n');
  expect(calls.map((call) => call.replace(/ .*/, '')).toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => 'curl'),
    'sed',
  ]);
  expect(calls.join('\n')).toContain(`-u demo-machine:${secrets[0]?.[1]}`);
});

test('a shell can source the secrets by the names that the tour uses', async () => {
  const { start, folder } = await server();
  await start();
  const file = join(folder, 'first-start.env');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const script = `. '${file}'; echo "$SECRET $PASSWORD $KEY"`;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script]);
  expect(stdout).toMatch(/^\S{20,} \S{10,} cs_\S{20,}\n$/);
});

test('if ten processes start at the same time, one creates everything, and the file has it once', async () => {
  const first = await server();
  const others = await Promise.all(Array.from({ length: 9 }, () => server(first.folder)));
  const results = await Promise.all([first, ...others].map(({ start }) => start()));
  expect(results.filter(({ lines }) => lines !== undefined)).toHaveLength(1);
  expect(await there(first.stores)).toEqual(ALL);
  expect((await first.kept()).match(/^client_id/gm)).toHaveLength(3);
});

test('a later start creates nothing, names the file and repeats no secret', async () => {
  const { start, kept, clock, file } = await server();
  await start();
  const before = await kept();
  for (const seconds of [1, 3600]) {
    clock.advance(seconds);
    expect(await start()).toEqual({ firstStart: file });
  }
  expect(await kept()).toBe(before);
});

test('a store that has only the machine gets the rest, and the machine’s secret stays in the file', async () => {
  const { start, kept, stores, clock, file } = await server();
  await start();
  const machine = await stores.clients.get('demo-machine');
  const older = await server(undefined, (await server()).folder);
  if (machine === undefined) throw new Error('no machine');
  await older.stores.clients.add(machine);
  const before = (await kept()).split('\n\n')[0] ?? '';
  await writeFile(older.file, `${before}\n`, { mode: 0o600 });
  expect((await older.start()).lines?.join('\n')).not.toContain('client_secret');
  expect(await there(older.stores)).toEqual(ALL);
  expect(await older.stores.clients.get('demo-machine')).toEqual(machine);
  expect((await older.kept()).startsWith(before)).toBe(true);
  expect(value(await older.kept(), 'password')).toMatch(/^[\w-]{23}$/);

  clock.advance(3600);
  expect(await start()).toEqual({ firstStart: file });
});

test('a client that was removed stays removed, since its old refresh tokens would become valid again', async () => {
  const { start, stores, clock } = await server();
  await start();
  await stores.revocations.raise('client', 'demo-browser', clock.now() + 1000);
  await stores.clients.remove('demo-browser');
  clock.advance(3600);
  expect((await start()).lines).toBeUndefined();
  expect(await stores.clients.get('demo-browser')).toBeUndefined();
});

test('a person who was disabled stays disabled', async () => {
  const { start, stores, clock } = await server();
  await start();
  const demo = await stores.people.getByName('demo');
  if (demo === undefined) throw new Error('no demo');
  await stores.people.replace({ ...demo, disabled: true, version: 1 });
  clock.advance(3600);
  expect((await start()).lines).toBeUndefined();
  expect(await stores.people.getByName('demo')).toMatchObject({ disabled: true });
});

test('after the store lost its memory the old file is replaced, not extended', async () => {
  const before = await server();
  await before.start();
  const old = value(await before.kept(), 'client_secret');
  const emptied = await server(undefined, before.folder);
  await emptied.start();
  const text = await emptied.kept();
  expect(text).not.toContain(old);
  expect(text.match(/^client_secret/gm)).toHaveLength(1);
});
