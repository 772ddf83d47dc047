import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import {
  ask,
  BOTH,
  change,
  decide,
  given,
  gnap,
  idOf,
  INACTIVE,
  isActive,
  MAILS,
  manage,
  open,
  refOf,
  refusedWith,
  removeClient,
  send,
  tenTimes,
  tokenOf,
  WHO,
  WRITE,
} from './attacks.fixture.ts';
import { CALLBACK, PHOTOS, READ, REDIRECT } from './gnap.fixture.ts';

describe('RFC 9635 section 2.1: access tokens that a client asks for', () => {
  const machine = testKey('machine');
  const asking = async (access_token: unknown, more: Partial<ClientRecord> = {}) => {
    await gnap.register(machine, more);
    return send('/gnap', { json: { access_token, client: { key: machine.byValue } } }, machine);
  };
  const access = ['photos:read'];

  test.each([
    ['twice', ['bearer', 'bearer']],
    ['unknown', ['durable']],
    ['unknown beside a known one', ['bearer', 'split']],
    ['in capitals', ['BEARER']],
    ['of Object', ['constructor']],
  ])('section 2.1.1: a flag that is %s is refused', async (_, flags) => {
    const { byValue: key } = machine;
    expect(await asking({ access, flags }, { gnap: { key, bearer: true } })).toMatchObject(
      refusedWith('invalid_flag'),
    );
  });

  test('a bearer token is for clients with the permission', async () => {
    const unbound = { access, flags: ['bearer'] };
    expect(await asking(unbound)).toMatchObject(refusedWith('invalid_flag'));
    await change(machine, { gnap: { key: machine.byValue, bearer: true } });
    const told = await asking(unbound);
    expect(told.body.access_token).toMatchObject({ flags: ['bearer'] });
    expect(decodeJwt(tokenOf(told))).not.toHaveProperty('cnf');
  });

  test('an unknown client never gets a bearer token, not even by a change', async () => {
    const flags = ['bearer'];
    expect(await ask({ access_token: { access, flags }, interact: REDIRECT })).toMatchObject(
      refusedWith('invalid_flag'),
    );
    const { told } = await given();
    expect(await gnap.proceed(told, { access_token: { access, flags } }, 'PATCH')).toMatchObject(
      refusedWith('invalid_flag'),
    );
  });

  test.each([
    ['no label', [{ access }]],
    ['one label of two', [{ access, label: 'a' }, { access }]],
    [
      'a label twice',
      [
        { access, label: 'a' },
        { access, label: 'a' },
      ],
    ],
    ['an empty label', [{ access, label: '' }]],
    ['a long label', [{ access, label: 'a'.repeat(65) }]],
    ['a number as label', [{ access, label: 1 }]],
  ])('section 2.1.2: several tokens with %s are refused', async (_, tokens) => {
    expect(await asking(tokens)).toMatchObject(refusedWith('invalid_request'));
  });

  test.each<[string, readonly unknown[]]>([
    ['in two spaces', ['photos:read', 'mails:read']],
    ['in two spaces by URL', [`${PHOTOS} photos:read`, `${MAILS} mails:read`]],
    ['in two spaces in one reference', ['photos:read mails:read']],
    ['two URLs in one reference', [`${PHOTOS} ${MAILS} photos:read`]],
    ['in a space that does not know it', [`${MAILS} photos:read`]],
    ['in an unknown space', ['https://evil.example/ photos:read']],
    ['to a URL alone', [PHOTOS]],
    ['to nothing', [' ']],
    ['to an unknown scope', ['photos:admin']],
    ['to a scope of OpenID Connect', ['openid']],
    ['to an object without actions', [{ type: 'photo-api' }]],
    ['to an object with no actions', [{ type: 'photo-api', actions: [] }]],
    ['to an unknown action', [{ type: 'photo-api', actions: ['delete'] }]],
    ['to an unknown type', [{ type: 'mail-api', actions: ['read'] }]],
    ['to the type of a space with actions of another', [{ type: PHOTOS, actions: ['mails:read'] }]],
    [
      'at locations that nobody enforces',
      [{ type: 'photo-api', actions: ['read'], locations: [`${PHOTOS}a`] }],
    ],
    ['at two locations', [{ type: 'photo-api', actions: ['read'], locations: [PHOTOS, MAILS] }]],
    ['at no locations', [{ type: 'photo-api', actions: ['read'], locations: [] }]],
    [
      'with privileges that nobody enforces',
      [{ type: 'photo-api', actions: ['read'], privileges: ['admin'] }],
    ],
    ['with a member that nobody knows', [{ type: 'photo-api', actions: ['read'], folder: 'a' }]],
    ['with a member of Object', [{ type: 'photo-api', actions: ['read'], constructor: 'a' }]],
    [
      'with an identifier in a space where nobody enforces it',
      [{ type: MAILS, actions: ['mails:read'], identifier: 'a' }],
    ],
  ])('section 8: access %s is refused', async (_, wanted) => {
    expect(await asking({ access: wanted })).toMatchObject(refusedWith('invalid_request'));
  });

  test.each<[string, unknown]>([
    ['a scope', 'photos:write'],
    ['a scope with its space', `${PHOTOS} photos:write`],
    ['one scope of two', 'photos:read photos:write'],
    ['an action that needs the scope', { type: 'photo-api', actions: ['write'] }],
    ['one action of two', { type: 'photo-api', actions: ['read', 'write'] }],
    ['an action that is the scope', { type: PHOTOS, actions: ['photos:write'] }],
  ])('%s that the client may not have is refused, with a person and without', async (_, one) => {
    const told = await asking({ access: [one] }, { scope: 'photos:read' });
    expect(told).toMatchObject(refusedWith('invalid_request'));
    const json = {
      access_token: { access: [one] },
      client: { key: machine.byValue },
      interact: REDIRECT,
    };
    expect(await send('/gnap', { json }, machine)).toMatchObject(refusedWith('invalid_request'));
  });

  test('RFC 8707: a space that the client may not name is refused', async () => {
    expect(await asking({ access: ['mails:read'] }, { resources: [PHOTOS] })).toMatchObject(
      refusedWith('invalid_request'),
    );
  });

  test('section 2.2: data about a person need a signed-in person and the scope', async () => {
    await gnap.register(machine, { scope: 'photos:read' });
    const json = { ...READ, ...WHO, client: { key: machine.byValue } };
    expect(await send('/gnap', { json }, machine)).toMatchObject(refusedWith('invalid_request'));
    expect(await send('/gnap', { json: { ...json, interact: REDIRECT } }, machine)).toMatchObject(
      refusedWith('invalid_request'),
    );
  });

  test('an issued token is accepted by resource servers', async () => {
    const identifier = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(500).slice(0, 1000));
    const rights = identifier.map((one) => ({
      type: 'photo-api',
      actions: ['read'],
      identifier: one,
    }));
    const told = await asking({ access: rights });
    if (told.status !== 200) return;
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
  });
});

describe('RFC 9635 section 5.3: a change without a person', () => {
  const album = (identifier: string) => ({ type: 'photo-api', actions: ['read'], identifier });
  const png = { type: 'photo-api', actions: ['read'], datatypes: ['image/png'] };

  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ['another identifier', [album('holiday')], [album('medical')]],
    ['a second identifier', [album('holiday')], [album('holiday'), album('medical')]],
    ['no identifier', [album('holiday')], [{ type: 'photo-api', actions: ['read'] }]],
    ['the whole scope', [album('holiday')], ['photos:read']],
    ['the scope as an object', [album('holiday')], [{ type: PHOTOS, actions: ['photos:read'] }]],
    ['another type of data', [png], [{ ...png, datatypes: ['text/plain'] }]],
    ['a further type of data', [png], [{ ...png, datatypes: ['image/png', 'text/plain'] }]],
    ['all types of data', [png], [{ type: 'photo-api', actions: ['read'] }]],
  ])('section 8: a change to %s gets no new access', async (_, before, after) => {
    const { told } = await given({ access_token: { access: before } });
    const changed = await gnap.proceed(told, { access_token: { access: after } }, 'PATCH');
    expect(changed.body).not.toHaveProperty('access_token');
    expect(changed).toMatchObject(refusedWith('request_denied'));
  });

  test.each<[string, object]>([
    ['another scope', WRITE],
    ['another scope beside it', BOTH],
    ['another space', { access_token: { access: ['mails:read'] } }],
    [
      'an action that needs more',
      { access_token: { access: [{ type: 'photo-api', actions: ['write'] }] } },
    ],
    [
      'a second token with more',
      {
        access_token: [
          { label: 'a', access: ['photos:read'] },
          { label: 'b', access: ['photos:write'] },
        ],
      },
    ],
    ['the name of the person', WHO],
    ['the email address of the person', { subject: { sub_id_formats: ['email'] } }],
  ])('a change to %s gets no new access', async (_, after) => {
    const { told } = await given();
    expect(await gnap.proceed(told, after, 'PATCH')).toMatchObject(refusedWith('request_denied'));
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
  });

  test('access that the person refused needs a new decision', async () => {
    const { told } = await given(BOTH, { changes: { item: `${PHOTOS} photos:read` } });
    for (const body of [WRITE, BOTH]) {
      expect(await gnap.proceed(told, body, 'PATCH')).toMatchObject(refusedWith('request_denied'));
    }
  });

  test('scopes that the client may not have are refused, even with a person', async () => {
    await gnap.register(gnap.key, { scope: 'photos:read' });
    const { told } = await given();
    expect(await gnap.proceed(told, { ...BOTH, interact: REDIRECT }, 'PATCH')).toMatchObject(
      refusedWith('invalid_request'),
    );
    const finish = { ...REDIRECT.finish, uri: 'https://evil.example/back' };
    const evil = {
      ...READ,
      interact: { ...REDIRECT, finish },
      subject: { sub_id_formats: ['opaque'] },
    };
    expect((await gnap.proceed(told, evil, 'PATCH')).status).toBe(400);
  });

  test('the form of an old page does not allow the changed request', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    const changed = await gnap.proceed(asked, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const item = [`${PHOTOS} photos:read`, `${PHOTOS} photos:write`];
    expect((await decide(browser, page, { item })).status).toBe(400);
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect((await gnap.proceed(changed)).body).not.toHaveProperty('access_token');
  });

  test('if the request changes at the moment of the decision, the token has the access that the person saw', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    gnap.flow.clock.advance(5);
    const token = asked.body.continue.access_token.value;
    const [end, changed] = await Promise.all([
      decide(browser, page),
      send('/gnap/continue', { method: 'PATCH', token, json: { ...BOTH, interact: REDIRECT } }),
    ]);
    if (end.headers.has('location')) {
      const told = await gnap.proceed(asked, refOf(end));
      expect(told.body.access_token.access).toEqual(['photos:read']);
    } else {
      expect(changed.body).toHaveProperty('interact');
      expect(await gnap.flow.grants('alice')).toBe(0);
    }
  });

  test('a request cannot be changed between the decision and the continuation', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const ref = refOf(await decide(browser, await open(asked, browser)));
    for (const body of [BOTH, { ...BOTH, interact: REDIRECT }]) {
      expect(await gnap.proceed(asked, body, 'PATCH')).toMatchObject(
        refusedWith('invalid_continuation'),
      );
    }
    expect((await gnap.proceed(asked, ref)).body.access_token.access).toEqual(['photos:read']);
  });

  test('a person can refuse a part of a change, too', async () => {
    const { told, browser } = await given();
    const asked = await gnap.proceed(told, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const page = await open(asked, browser);
    const ref = refOf(await decide(browser, page, { item: `${PHOTOS} photos:write` }));
    const after = await gnap.proceed(asked, ref);
    expect(decodeJwt(tokenOf(after))).toMatchObject({ scope: 'photos:write' });
    expect(after.body.access_token.access).toEqual(['photos:write']);
  });

  test('if another person decides about the change, the grant has no access of the first person', async () => {
    const { told } = await given({ ...READ, subject: { sub_id_formats: ['opaque'] } });
    const asked = await gnap.proceed(told, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const bob = await gnap.flow.signedIn('bob');
    const after = await gnap.proceed(asked, refOf(await decide(bob, await open(asked, bob))));
    expect(decodeJwt(tokenOf(after)).sub).toBe(gnap.flow.people.bob.id);
    expect(JSON.stringify(after.body)).not.toContain(gnap.flow.people.alice.id);
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
    expect(await gnap.flow.grants('alice')).toBe(0);
  });

  test('ten changes at the same time leave one valid token', async () => {
    const { told } = await given(BOTH);
    const token = told.body.continue.access_token.value;
    const changes = await tenTimes(() =>
      send('/gnap/continue', { method: 'PATCH', token, json: READ }),
    );
    const tokens = [told, ...changes].filter(({ body }) => 'access_token' in body).map(tokenOf);
    expect(tokens).toHaveLength(11);
    const states = await Promise.all(tokens.map(isActive));
    expect(states.filter(({ active }) => active)).toHaveLength(1);
  });

  test('rotations and changes at the same time leave one valid token', async () => {
    const { told } = await given(BOTH);
    const token = told.body.continue.access_token.value;
    const all = await tenTimes(async () => [
      await send('/gnap/continue', { method: 'PATCH', token, json: READ }),
      await manage(told),
    ]);
    const tokens = [told, ...all.flat()].filter(({ body }) => 'access_token' in body).map(tokenOf);
    const states = await Promise.all(tokens.map(isActive));
    expect(states.filter(({ active }) => active)).toHaveLength(1);
  });
});

describe('a decision that is remembered', () => {
  const key = testKey('app', 'ES256');
  const album = (identifier: string) => ({
    access_token: { access: [{ type: 'photo-api', actions: ['read'], identifier }] },
  });

  /** Opens the page of a further request, for a person who has already allowed the client some access. */
  async function again(browser: TestBrowser, body: object): Promise<Page> {
    return open(await ask({ ...body, interact: REDIRECT }, key), browser);
  }

  test.each<[string, object]>([
    ['another identifier', album('medical')],
    ['the whole scope', READ],
    [
      'the scope as an object',
      { access_token: { access: [{ type: PHOTOS, actions: ['photos:read'] }] } },
    ],
    ['more scopes', BOTH],
    ['another space', { access_token: { access: ['mails:read'] } }],
    ['who the person is', { ...album('holiday'), ...WHO }],
  ])('section 8: a further request for %s is asked about', async (_, body) => {
    await gnap.register(key);
    const { browser } = await given(album('holiday'), { key });
    const page = await again(browser, body);
    expect([page.status, page.headers.get('location')]).toEqual([200, null]);
  });

  test('another person is asked', async () => {
    await gnap.register(key);
    await given(READ, { key });
    expect((await again(await gnap.flow.signedIn('bob'), READ)).status).toBe(200);
  });

  test('the person is asked each time about a native client, a client on this machine and a client with a user code', async () => {
    const redirect_uris = ['http://127.0.0.1/back', CALLBACK];
    await gnap.register(key, { application_type: 'native', redirect_uris });
    const { browser } = await given(READ, { key });
    const finish = { ...REDIRECT.finish, uri: 'http://127.0.0.1:9/back' };
    const bodies = [
      REDIRECT,
      { ...REDIRECT, finish },
      { start: ['redirect'] },
      { ...REDIRECT, start: ['redirect', 'user_code'] },
    ];
    for (const interact of bodies) {
      const page = await open(await ask({ ...READ, interact }, key), browser);
      expect([interact, page.status]).toEqual([interact, 200]);
    }
  });

  test('section 2.4: an earlier decision does not help a person whom the client does not expect', async () => {
    await gnap.register(key);
    const { browser } = await given(READ, { key });
    const user = { sub_ids: [{ format: 'opaque', id: gnap.flow.people.bob.id }] };
    const asked = await ask({ ...READ, interact: REDIRECT, user }, key);
    const page = await open(asked, browser);
    const ref = {
      interact_ref:
        new URL(page.headers.get('location') ?? CALLBACK).searchParams.get('interact_ref') ?? 'x',
    };
    expect((await gnap.proceed(asked, ref, 'POST', key)).body).not.toHaveProperty('access_token');
  });

  test('the person is asked about a client that was removed and registered again', async () => {
    await gnap.register(key);
    const { browser } = await given(READ, { key });
    await removeClient(idOf(key));
    await gnap.register(key);
    expect((await again(browser, READ)).status).toBe(200);
  });

  test('the person is asked after the end of all their access', async () => {
    await gnap.register(key);
    await given(READ, { key });
    await endEverything(gnap.flow.store, gnap.flow.people.alice.id);
    expect((await again(await gnap.flow.signedIn('alice'), READ)).status).toBe(200);
  });
});
