import { generateKeyPairSync, hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { hobaCredentials } from '#shared/auth/schemes/hoba/client.ts';
import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { somePerson } from '#shared/stores/contract/samples.ts';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { createPasswords } from '#shared/people/password.ts';
import { RESOURCE } from '../resource-server.fixture.ts';
import { CLIENT, SIGNS_IN } from '../../playground/browser.ts';
import { PASSWORD, PERSON } from '../../playground/person.ts';
import { startPlayground } from './playground.fixture.ts';

const SPACES = [
  { url: `${RESOURCE}/real/`, realm: 'playground', schemes: ['Basic'], serves: 'identity' },
];
/** A proxy that terminates TLS, since Basic is refused in clear text. */
const VIA = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.9' };
const shows = (name: string, password: string) => ({
  headers: { ...VIA, Authorization: basicCredentials(name, password) },
});

test("the playground's person can enter its spaces from outside, and no other space, even of the same realm", async () => {
  await using rs = await startPlayground({ spaces: SPACES });
  const person = shows(PERSON.name, PASSWORD);
  const own = await rs.ask('GET', '/playground/at/basic/', person);
  expect([own.status, JSON.parse(own.text).principal]).toEqual([
    200,
    { kind: 'person', name: 'playground' },
  ]);
  expect((await rs.ask('GET', '/real/', person)).status).toBe(401);
});

test('real people cannot enter the spaces of the playground, not even one with the same name', async () => {
  await using rs = await startPlayground({ spaces: SPACES });
  for (const name of ['alice', PERSON.name]) {
    const password_hash = await createPasswords().hash(ALONE, 'correct horse battery');
    await rs.stores.people.add({ ...somePerson(name), id: name, password_hash });
    const real = shows(name, 'correct horse battery');
    expect((await rs.ask('GET', '/real/', real)).status).toBe(200);
    expect((await rs.ask('GET', '/playground/at/basic/', real)).status).toBe(401);
  }
});

test('wrong passwords from one address do not affect other addresses, and an exchange from it asks to wait', async () => {
  await using rs = await startPlayground();
  const statusFrom = async (address: string, password: string) => {
    const { headers } = shows(PERSON.name, password);
    const from = { headers: { ...headers, 'X-Forwarded-For': address } };
    return (await rs.ask('GET', '/playground/at/basic/', from)).status;
  };
  const wrong: number[] = [];
  for (let n = 0; n < 100; n += 1) wrong.push(await statusFrom('203.0.113.66', `wrong-${n}`));
  expect([wrong[0], wrong.at(-1)]).toEqual([401, 429]);
  expect(await statusFrom('203.0.113.67', PASSWORD)).toBe(200);
  const tired = await rs.perform('scram-sha-256', '', { 'X-Forwarded-For': '203.0.113.66' });
  expect([tired.status, tired.text]).toEqual([503, expect.stringContaining('answered 429')]);
});

test("a token of the playground's issuer opens no other space, and has no metadata", async () => {
  await using rs = await startPlayground();
  const page = await rs.perform('bearer');
  const [, token = ''] = /Authorization: Bearer (ey\S+)/.exec(page.text) ?? [];
  const shown = { headers: { Authorization: `Bearer ${token}` } };
  expect((await rs.ask('GET', '/playground/at/bearer/', shown)).status).toBe(200);
  expect((await rs.ask('GET', '/documents/', shown)).status).toBe(401);
  const real = { headers: { Authorization: `Bearer ${rs.token('documents:read')}` } };
  expect((await rs.ask('GET', '/documents/', real)).status).toBe(200);
  expect((await rs.ask('GET', '/playground/at/bearer/', real)).status).toBe(401);
  const described = '/.well-known/oauth-protected-resource/playground/at/bearer/';
  expect((await rs.ask('GET', described)).status).toBe(404);
});

test('the spaces of the flows accept only tokens of their person or client, which open nothing else', async () => {
  await using rs = await startPlayground();
  const ofClient = { sub: CLIENT, client_id: CLIENT };
  const { id: sub } = (await rs.stores.people.getByName(SIGNS_IN)) ?? {};
  const ofPerson = { ...ofClient, sub, sub_gen: 0, grant_id: 'g' };
  const tokens = { ofClient, ofPerson, ofAlice: { ...ofPerson, sub: 'alice' }, ofMachine: {} };
  const spaces = ['client-credentials', 'authorization-code', 'device-code', 'bearer'];
  const opened: Record<string, readonly number[]> = {};
  for (const space of spaces) {
    const url = `${RESOURCE}/playground/at/${space}/`;
    opened[space] = await Promise.all(
      Object.values(tokens).map(async (claims) => {
        const headers = { Authorization: `Bearer ${rs.token('play', { aud: url, ...claims })}` };
        return (await rs.ask('GET', `/playground/at/${space}/`, { headers })).status;
      }),
    );
  }
  expect(opened).toEqual({
    'client-credentials': [200, 403, 403, 403],
    'authorization-code': [403, 200, 403, 403],
    'device-code': [403, 200, 403, 403],
    bearer: [401, 401, 401, 401],
  });
  const aud = `${RESOURCE}/playground/at/device-code/`;
  const headers = { Authorization: `Bearer ${rs.token('play', { aud, ...ofPerson })}` };
  for (const path of ['/documents/', '/playground/at/authorization-code/']) {
    expect([path, (await rs.ask('GET', path, { headers })).status]).toEqual([path, 401]);
  }
});

test("the playground's keys open no other space, and a registered key opens no space of the playground", async () => {
  await using rs = await startPlayground({
    spaces: [{ url: `${RESOURCE}/real/`, realm: 'real', schemes: ['HOBA'], serves: 'identity' }],
  });
  const challengeAt = async (path: string) => {
    const { headers } = await rs.ask('GET', path, { headers: VIA });
    return /challenge="?([\w-]+)/.exec(headers['www-authenticate'] ?? '')?.[1] ?? '';
  };
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const kid = hash('sha256', spki, 'base64url');
  await rs.stores.people.add({ ...somePerson('alice'), id: 'alice' });
  await rs.stores.publicKeys.add(
    {
      id: kid,
      scheme: 'HOBA',
      owner: { kind: 'person', id: 'alice' },
      spki: spki.toString('base64url'),
      name: 'laptop',
      origin: RESOURCE,
      created_at: 0,
    },
    20,
  );
  const at = async (path: string) => {
    const proof = { kid, challenge: await challengeAt(path), nonce: 'AAAA', origin: RESOURCE };
    const headers = {
      ...VIA,
      Host: 'rs.example',
      Authorization: hobaCredentials(privateKey, proof),
    };
    return (await rs.ask('GET', path, { headers })).status;
  };
  expect([await at('/real/'), await at('/playground/at/hoba/')]).toEqual([200, 401]);
  const page = await rs.perform('hoba');
  const [, result = ''] = /HOBA result=&quot;([\w.-]+)&quot;/.exec(page.text) ?? [];
  expect(result).not.toBe('');
  const shown = { headers: { ...VIA, Authorization: `HOBA result="${result}"` } };
  expect((await rs.ask('GET', '/real/', shown)).status).toBe(401);
});

test("the playground's API key opens only its own space, and no other key opens that space", async () => {
  const realm = 'playground';
  await using rs = await startPlayground({
    spaces: [{ url: `${RESOURCE}/real/`, realm, schemes: ['API-Key'], serves: 'identity' }],
  });
  const page = await rs.ask('GET', '/playground/api-key', { headers: { Accept: 'text/html' } });
  const [own = ''] = /cs_[0-9a-f_]+/.exec(page.text) ?? [];
  const { id, key, secret_hash } = newApiKey(systemRandom);
  const record = { id, secret_hash, application: 'robot', realm, scopes: [], created_at: 0 };
  await rs.stores.apiKeys.add(record);
  const at = async (path: string, shown: string) =>
    (await rs.ask('GET', path, { headers: { 'X-API-Key': shown } })).status;
  expect(await at('/playground/at/api-key/', own)).toBe(200);
  expect(await at('/real/', own)).toBe(403);
  expect(await at('/real/', key)).toBe(200);
  expect(await at('/playground/at/api-key/', key)).toBe(403);
});
