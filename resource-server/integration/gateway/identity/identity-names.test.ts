import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { somePerson } from '#shared/stores/contract/samples.ts';
import {
  type Application,
  RESOURCE,
  startApplication,
  startGateway,
} from '../../gateway.fixture.ts';

/** Tests of the fields by which applications learn the caller's identity (`identity.fields` of a space). */
const PEOPLE = {
  alice: {
    emails: [{ address: 'alice@example.com', verified: true }],
    groups: ['staff', 'Ops Team', '100%'],
  },
  jürgen: { emails: [{ address: 'j@example.com', verified: false }] },
};

const EVERY = { safe: ['a'], unsafe: ['a'] };
const PRESETS = {
  'remote-user': {
    'remote-user': 'alice',
    'remote-email': 'alice@example.com',
    'remote-groups': 'staff,Ops%20Team,100%25',
  },
  'oauth2-proxy': {
    'x-forwarded-user': expect.stringMatching(/^[\w-]{10,}$/),
    'x-forwarded-preferred-username': 'alice',
    'x-forwarded-email': 'alice@example.com',
    'x-forwarded-groups': 'staff,Ops%20Team,100%25',
  },
  grafana: {
    'x-webauth-user': 'alice',
    'x-webauth-email': 'alice@example.com',
    'x-webauth-groups': 'staff,Ops%20Team,100%25',
  },
};

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
const ids = new Map<string, string>();
beforeAll(async () => {
  application = await startApplication();
  const upstream = { url: application.url };
  const common = { scopes: EVERY, grants: { everyone: ['a'] }, schemes: ['Bearer', 'Basic'] };
  const spaces = Object.keys(PRESETS).flatMap((fields) => [
    [fields, { ...common, upstream, identity: { fields } }],
    [`${fields}-verify`, { ...common, serves: 'verify', identity: { fields } }],
  ]);
  gateway = await startGateway({
    ...Object.fromEntries(spaces),
    all: {
      ...common,
      upstream: { ...upstream, identity: [] },
      identity: {
        fields: {
          'X-Id': 'subject',
          'X-User': 'name',
          'X-Client-Id': 'client',
          'X-Scopes': 'scope',
          'X-How': 'scheme',
        },
      },
    },
    other: { ...common, upstream },
    signed: { ...common, upstream: { ...upstream, identity: [] } },
  });
  const password_hash = await hash('open sesame');
  for (const [name, profile] of Object.entries(PEOPLE)) {
    const person = { ...somePerson(name), password_hash, profile };
    await gateway.stores.people.add(person);
    ids.set(name, person.id);
  }
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

/** Basic credentials, as over TLS that a trusted proxy terminates. */
const basic = (name: string) => ({
  'X-Forwarded-Proto': 'https',
  Authorization: `Basic ${Buffer.from(`${name}:open sesame`).toString('base64')}`,
});
const bearer = (space: string, sub: string, claims: object = { sub_gen: 0 }) => ({
  Authorization: `Bearer ${gateway.token('a', { aud: `${RESOURCE}/${space}/`, sub, ...claims })}`,
});

async function asked(space: string, headers: Record<string, string>) {
  const { status, text } = await gateway.ask('GET', `/${space}/x`, { headers });
  expect({ status, text }).toMatchObject({ status: 200 });
  return (JSON.parse(text) as Application['asked'][number]).fields;
}
const verified = async (space: string, headers: Record<string, string>) =>
  gateway.ask('GET', '/verify', {
    headers: {
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Host': new URL(RESOURCE).host,
      'X-Forwarded-Uri': `/${space}/x`,
      ...headers,
      'X-Forwarded-Proto': new URL(RESOURCE).protocol.slice(0, -1),
    },
  });

describe.each(Object.entries(PRESETS))('preset %s', (preset, fields) => {
  test('a person has the same name in the fields with Basic and with a token without a name', async () => {
    expect(await asked(preset, basic('alice'))).toMatchObject(fields);
    expect(await asked(preset, bearer(preset, ids.get('alice') ?? ''))).toMatchObject(fields);
  });

  test('/verify gives the same identity fields as the gateway', async () => {
    const space = `${preset}-verify`;
    for (const credentials of [basic('alice'), bearer(space, ids.get('alice') ?? '')]) {
      const { status, headers } = await verified(space, credentials);
      expect([status, headers]).toEqual([204, expect.objectContaining(fields)]);
    }
  });

  test('an application without a person has no name: no field, or an empty field at /verify', async () => {
    const machine = { client_gen: 0 };
    const came = await asked(preset, bearer(preset, 'machine', machine));
    const names = Object.keys(fields).filter((name) => name !== 'x-forwarded-user');
    expect(names.filter((name) => came[name] !== undefined)).toEqual([]);
    const space = `${preset}-verify`;
    const { headers } = await verified(space, bearer(space, 'machine', machine));
    expect(names.map((name) => headers[name])).toEqual(names.map(() => ''));
  });

  test('identity fields from a client are removed, in this space and in others', async () => {
    const forged = Object.fromEntries(
      Object.keys(fields).flatMap((name) => [
        [name, 'root'],
        [name.replaceAll('-', '_'), 'root'],
      ]),
    );
    expect(await asked(preset, { ...basic('alice'), ...forged })).toMatchObject(fields);
    for (const space of [preset, 'other']) {
      const came = JSON.stringify(await asked(space, { ...basic('jürgen'), ...forged }));
      expect(came).not.toContain('root');
    }
  });
});

test('the handshake of a WebSocket has identity fields, too (RFC 6455 section 4.1)', async () => {
  application.asked.splice(0);
  await gateway.ask('GET', '/remote-user/socket', {
    headers: {
      ...bearer('remote-user', ids.get('alice') ?? ''),
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Remote-User': 'root',
    },
  });
  const [{ fields } = { fields: {} }] = application.asked;
  expect(fields).toMatchObject({ upgrade: 'websocket', ...PRESETS['remote-user'] });
});

test('identity fields have their configured names and any value that they can have', async () => {
  const alice = ids.get('alice') ?? '';
  expect(await asked('all', bearer('all', alice))).toMatchObject({
    'x-id': alice,
    'x-user': 'alice',
    'x-client-id': 'machine',
    'x-scopes': 'a',
    'x-how': 'Bearer',
  });
});

test('a configured identity field is removed in every space, and written only in its own', async () => {
  expect(await asked('other', { ...basic('alice'), X_User: 'root' })).not.toHaveProperty('x-user');
  const fields = await asked('other', { ...basic('alice'), 'X-User': 'root', 'X-How': 'root' });
  expect(JSON.stringify(fields)).not.toContain('root');
});

test('identity values outside visible ASCII are percent-encoded, and unverified email addresses are left out', async () => {
  const fields = await asked('remote-user', basic('jürgen'));
  expect(fields['remote-user']).toBe('j%C3%BCrgen');
  expect(fields).not.toHaveProperty('remote-email');
  expect(fields).not.toHaveProperty('remote-groups');
});

test('a space that asks the directory refuses a person who is not in the directory', async () => {
  const headers = bearer('remote-user', 'nobody');
  expect((await gateway.ask('GET', '/remote-user/x', { headers })).status).toBe(403);
  expect((await asked('signed', bearer('signed', 'nobody')))['x-auth-name']).toBeUndefined();
});
