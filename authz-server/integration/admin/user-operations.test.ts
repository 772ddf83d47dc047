import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { fresh, somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { type TestAdmin, testAdmin } from './admin.fixture.ts';

const PASSWORD = 'correct horse battery staple';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await testAdmin();
});
afterAll(async () => admin.authz[Symbol.asyncDispose]());

/** Adds a person whom no other test uses. */
async function somebody() {
  const name = fresh().toLowerCase();
  const { status, body } = await admin.change('user-add', { name, password: PASSWORD });
  expect([status, body]).toEqual([200, { id: expect.any(String), name }]);
  return { name, id: String(body.id) };
}

describe('operations that add people', () => {
  test('without a password one is generated and shown once, and the name is then taken: 409', async () => {
    const name = fresh().toLowerCase();
    const added = await admin.change('user-add', { name, groups: ['staff'] });
    expect(added.body.password).toMatch(/^(?:\w{5}-){3}\w{5}$/);
    const shown = await admin.read(`user-show?name=${name}`);
    expect(shown.body).toMatchObject({ name, groups: ['staff'] });
    expect(shown.text).not.toContain(added.body.password);
    const again = await admin.change('user-add', { name });
    expect([again.status, again.body.detail]).toEqual([
      409,
      `The name ${name} is taken: choose another.`,
    ]);
  });

  test.each([
    ['a name with a space', { name: 'al ice' }, '/name'],
    ['a name with a control sequence', { name: 'x\u001b[2J' }, '/name'],
    ['a short password', { name: 'carol', password: '1234567' }, '/password'],
    ['a common password', { name: 'carol', password: 'Superman' }, '/password'],
    ['a long password', { name: 'carol', password: 'x'.repeat(2000) }, '/password'],
    [
      'an invalid address',
      { name: 'carol', emails: [{ address: 'x', verified: true }] },
      '/emails/0/address',
    ],
    ['a right to administer', { name: 'carol', admin: true }, '/admin'],
    ['a hash', { name: 'carol', password_hash: '$argon2id$' }, '/password_hash'],
  ])('%s gets 422, and no person is added', async (_, content, path) => {
    const { status, body } = await admin.change('user-add', content);
    expect([status, body.path]).toEqual([422, path]);
    expect(await admin.authz.stores.people.getByName('carol')).toBeUndefined();
  });

  test('each invitation makes a new link until the person can sign in, and then gets 409', async () => {
    const name = fresh().toLowerCase();
    const first = await admin.change('user-invite', { name });
    const second = await admin.change('user-invite', { name });
    expect(first.body.link).toMatch(/\/recover\/[\w-]{22}$/);
    expect(second.body).toMatchObject({
      id: first.body.id,
      link: expect.not.stringMatching(first.body.link),
    });
    await admin.change('user-passwd', { name, password: PASSWORD });
    const third = await admin.change('user-invite', { name });
    expect([third.status, third.body.detail]).toEqual([
      409,
      expect.stringContaining('can sign in: user recover'),
    ]);
  });
});

describe('the audit log of operations', () => {
  const written = async () => (await admin.authz.stores.audit.open()).texts.map(entryOf);

  test("an event names the client that acts in its own name, and the interface, but not the person's name", async () => {
    const { name, id } = await somebody();
    await admin.change('user-end', { name });
    const about = (await written()).filter((entry) => Reflect.get(entry, 'person') === id);
    const by = { who: { client: 'admin' }, how: 'http', person: id };
    expect(about).toMatchObject([
      { ...by, kind: 'person.added' },
      { ...by, kind: 'person.ended' },
    ]);
    expect(JSON.stringify(about)).not.toContain(name);
  });

  test('a refused operation leaves no event', async () => {
    const { name } = await somebody();
    const before = (await written()).length;
    expect((await admin.change('user-add', { name })).status).toBe(409);
    expect((await admin.change('user-second-factor-remove', { name })).status).toBe(404);
    expect((await admin.change('user-end', { name, grant: 'x' })).status).toBe(404);
    expect(await written()).toHaveLength(before);
  });
});

test('if ten administrators add the same person at the same time, one succeeds', async () => {
  const name = fresh().toLowerCase();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => admin.change('user-add', { name, password: PASSWORD })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 409),
  ]);
});

test('a password in the query gets 400, and changes nothing', async () => {
  const { name, id } = await somebody();
  const before = await admin.authz.stores.people.get(id);
  const { status } = await admin.change(`user-passwd?name=${name}&password=whatever`, { name });
  expect(status).toBe(400);
  const read = await admin.read(`user-passwd?name=${name}&password=whatever`);
  expect([read.status, read.text.includes('whatever')]).toEqual([405, false]);
  expect(await admin.authz.stores.people.get(id)).toEqual(before);
});

test.each([
  ['user-passwd', {}],
  ['user-recover', {}],
  ['user-kerberos', { principals: [] }],
  ['user-end', {}],
  ['user-end', { grant: 'x' }],
  ['user-remove', {}],
  ['user-second-factor-remove', {}],
  ['user-key-add', { public_key: 'x', key_name: 'x' }],
  ['user-key-remove', { fingerprint: 'x' }],
  ['user-passkey-remove', { id: 'x' }],
])('%s of an unknown person gets 404', async (operation, content) => {
  const { status, body } = await admin.change(operation, { name: 'nobody', ...content });
  expect([status, body.detail]).toEqual([404, 'There is no person nobody.']);
});

test.each(['user-show', 'user-access', 'user-second-factor', 'user-key-list', 'user-passkey-list'])(
  'the reading operation %s of an unknown person gets 404',
  async (operation) => {
    expect((await admin.read(`${operation}?name=nobody`)).status).toBe(404);
  },
);

describe('operations that end and remove access', () => {
  test("one part of a person's access ends at a time, if the person has it", async () => {
    const { name, id } = await somebody();
    const both = await admin.change('user-end', { name, grant: 'x', client: 'y' });
    expect([both.status, both.body.detail]).toEqual([422, 'Give one of grant, sign_in, client.']);
    const unknown = await admin.change('user-end', { name, sign_in: '__proto__' });
    expect([unknown.status, unknown.body.detail]).toEqual([
      404,
      `${name} has no sign-in __proto__: see user access ${name}.`,
    ]);
    for (const part of ['grant', 'sign_in', 'client']) {
      const empty = await admin.change('user-end', { name, [part]: '' });
      expect([empty.status, empty.body.path]).toEqual([422, `/${part}`]);
    }
    await admin.authz.stores.passkeys.add({ ...somePasskey(fresh()), accountId: id }, 9);
    expect((await admin.change('user-end', { name })).body).toEqual({
      id,
      name,
      ended: true,
      passkeys_left: 1,
    });
  });

  test('a second factor is removed once', async () => {
    const { name, id } = await somebody();
    await admin.authz.stores.secondFactors.add(someSecondFactor(id));
    expect((await admin.read(`user-second-factor?name=${name}`)).body).toMatchObject({
      person: name,
      set_up: true,
    });
    expect((await admin.change('user-second-factor-remove', { name })).body).toEqual({
      person: name,
      removed: true,
    });
    expect((await admin.change('user-second-factor-remove', { name })).status).toBe(404);
  });

  test('a removed person no longer exists, and the name is used again only on request', async () => {
    const { name, id } = await somebody();
    expect((await admin.change('user-remove', { name })).body).toEqual({ id, name, removed: true });
    expect((await admin.change('user-remove', { name })).status).toBe(404);
    expect((await admin.change('user-add', { name })).status).toBe(409);
    expect((await admin.change('user-add', { name, reuse_name: true })).status).toBe(200);
  });

  test('the last passkey is removed only if the request says so', async () => {
    const name = fresh().toLowerCase();
    const { body } = await admin.change('user-invite', { name });
    const id = fresh();
    await admin.authz.stores.passkeys.add({ ...somePasskey(id), accountId: body.id }, 9);
    expect((await admin.change('user-passkey-remove', { name, id })).status).toBe(409);
    expect((await admin.change('user-passkey-remove', { name, id, last: true })).status).toBe(200);
  });
});

describe('operations on the keys of people', () => {
  const pem = () =>
    generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });

  test('keys are added by their public half, listed and removed', async () => {
    const { name } = await somebody();
    const added = await admin.change('user-key-add', { name, public_key: pem(), key_name: 'Card' });
    const { fingerprint } = added.body;
    expect(added.body).toEqual({ fingerprint, person: name, scheme: 'Concealed', name: 'Card' });
    const listed = await admin.read(`user-key-list?name=${name}`);
    expect(listed.body.items).toEqual([{ ...added.body, created_at: expect.any(Number) }]);
    const again = { name, fingerprint };
    expect((await admin.change('user-key-remove', again)).status).toBe(200);
    expect((await admin.change('user-key-remove', again)).status).toBe(404);
  });

  test.each([
    [
      'a private key',
      () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
      {},
      '/public_key',
      /private key/,
    ],
    ['no key', () => 'x', {}, '/public_key', /no public key/],
    ['a key too long', () => 'x'.repeat(9000), {}, '/public_key', /at most/],
    ['a name that nobody can read', pem, { key_name: '\u202e' }, '/key_name', /invisible/],
    ['another scheme', pem, { scheme: 'basic' }, '/scheme', /concealed, hoba/],
    ['HOBA without an origin', pem, { scheme: 'hoba' }, '/origin', /TLS/],
    ['Concealed with one', pem, { origin: 'https://localhost' }, '/origin', /hoba/],
  ])('%s gets 422', async (_, key, more, path, detail) => {
    const { name } = await somebody();
    const content = { name, public_key: key(), key_name: 'Card', ...more };
    const { status, body } = await admin.change('user-key-add', content);
    expect([status, body.path]).toEqual([422, path]);
    expect(body.detail).toMatch(detail);
  });

  test('the pages of keys lose no key and repeat none', async () => {
    const { authz, read } = admin;
    for (let n = 0; n < 5; n += 1) {
      const { id } = await somebody();
      for (let key = 0; key < n; key += 1) {
        const passkey = { ...somePasskey(fresh()), accountId: id, created_at: key };
        await authz.stores.passkeys.add(passkey, 9);
      }
    }
    const whole = await read('user-passkey-list');
    const ids = ({ body }: { body: { items: { id: string }[] } }) => body.items.map(({ id }) => id);
    const paged: string[] = [];
    let after = '';
    for (;;) {
      const page = await read(`user-passkey-list?limit=3&after=${encodeURIComponent(after)}`);
      expect(page.body.items.length).toBeLessThanOrEqual(3);
      paged.push(...ids(page));
      if (page.body.next === undefined) break;
      after = page.body.next;
    }
    expect(paged).toEqual(ids(whole));
    expect(paged.length).toBeGreaterThanOrEqual(10);
  });
});

describe('the operation that lists people', () => {
  const names = ({ body }: { body: { items: { name: string }[] } }) =>
    body.items.map(({ name }) => name);

  test('the list is paged by name, and filtered by beginning, group, state and address', async () => {
    const start = `list${fresh().toLowerCase()}`;
    const all = ['a', 'b', 'c', 'd', 'e'].map((tail) => `${start}${tail}`);
    const [a = '', b = '', c = '', d = '', e = ''] = all;
    const emails = [{ address: `${start}@example.com`, verified: false }];
    for (const name of [a, b, c]) await admin.change('user-add', { name, groups: ['staff'] });
    for (const name of [d, e]) await admin.change('user-add', { name, emails });
    await admin.change('user-disable', { name: b });
    await admin.change('user-set', { name: e, admin: true });
    const list = (query: string) => admin.read(`user-list?search=${start.toUpperCase()}&${query}`);
    expect(names(await list(''))).toEqual(all);
    expect(names(await list('group=staff'))).toEqual([a, b, c]);
    expect(names(await list('group=Staff'))).toEqual([]);
    expect(names(await list('state=disabled'))).toEqual([b]);
    expect(names(await list('state=active&group=staff'))).toEqual([a, c]);
    expect(names(await list('state=admin'))).toEqual([e]);
    expect(names(await list(`email=${start.toUpperCase()}@example.com`))).toEqual([d, e]);
    const first = await list('limit=2');
    expect([names(first), first.body.next]).toEqual([[a, b], b]);
    expect(names(await list(`limit=2&after=${d}`))).toEqual([e]);
    const ofState = await list(`limit=1&state=active&after=${a}`);
    expect([names(ofState), ofState.body.next]).toEqual([[c], c]);
    const none = await list('limit=1&state=disabled&group=staff');
    expect([names(none), none.body.next]).toEqual([[], a]);
    const byAddress = await list(`limit=1&email=${start}@example.com`);
    expect([names(byAddress), byAddress.body.next]).toEqual([[d], d]);
    expect((await list('')).text).not.toMatch(/argon2|digest:|verifier_set/);
  });

  test.each(['state=gone', 'email=', 'group=a&group=b', 'lacking_second_factor=2', 'limit=0'])(
    'a list with %s is empty, or gets 422',
    async (query) => {
      const { status, body } = await admin.read(`user-list?${query}`);
      expect([status, body.items]).toEqual(query === 'email=' ? [200, []] : [422, undefined]);
    },
  );
});
