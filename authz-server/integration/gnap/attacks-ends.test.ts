import { describe, expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { signedBy, type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { endClient } from '#shared/people/access/of-client.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { signIn } from '../device/device.fixture.ts';
import {
  ask,
  BOTH,
  decide,
  errorOf,
  given,
  gnap,
  idOf,
  INACTIVE,
  isActive,
  manage,
  open,
  refOf,
  refusedWith,
  removeClient,
  reopen,
  send,
  tenTimes,
  tokenOf,
  WHO,
} from './attacks.fixture.ts';
import { CALLBACK, READ, REDIRECT, type Told } from './gnap.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

describe('RFC 9635 section 2.4: the person whom a client expects', () => {
  const hinted = (user: unknown, key?: TestKey) => ask({ ...READ, interact: REDIRECT, user }, key);
  const opaque = (id: string) => ({ sub_ids: [{ format: 'opaque', id }] });

  /** Continues as the client after a person has opened the page, with the reference if the browser has one. */
  async function after(asked: Told, page: Page): Promise<Told> {
    const told = await gnap.proceed(asked, page.headers.has('location') ? refOf(page) : undefined);
    expect(told.body).not.toHaveProperty('access_token');
    expect(told.body).not.toHaveProperty('subject');
    return told;
  }

  test('another person is not asked, and gives no access', async () => {
    const asked = await hinted(opaque(gnap.flow.people.bob.id));
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    expect(page.text.includes('photos:read')).toBe(false);
    await after(asked, page);
    expect(await gnap.flow.grants('alice')).toBe(0);
  });

  // RFC 9700 section 4.11: otherwise a link to this server could lead anywhere, and could tell any site who a visitor
  // is not.
  test('section 11.29: a visitor is not sent to an unknown client before they have decided', async () => {
    const asked = await hinted(opaque('nobody'));
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    expect(page.headers.get('location')).toBeNull();
  });

  test.each<[string, () => unknown]>([
    ['a reference', () => 'alice'],
    ['an unknown format', () => ({ sub_ids: [{ format: 'phone_number', phone_number: '+1' }] })],
    [
      'another issuer',
      () => ({
        sub_ids: [
          { format: 'iss_sub', iss: 'https://evil.example', sub: gnap.flow.people.alice.id },
        ],
      }),
    ],
    ['no issuer', () => ({ sub_ids: [{ format: 'iss_sub', sub: gnap.flow.people.alice.id }] })],
    ['a number for an identifier', () => ({ sub_ids: [{ format: 'opaque', id: 1 }] })],
    [
      'two people',
      () => ({
        sub_ids: [
          { format: 'opaque', id: 'a' },
          { format: 'opaque', id: 'b' },
        ],
      }),
    ],
    [
      'two addresses',
      () => ({
        sub_ids: [
          { format: 'email', email: 'a@a.example' },
          { format: 'email', email: 'b@a.example' },
        ],
      }),
    ],
    ['an assertion of SAML', () => ({ assertions: [{ format: 'saml2', value: 'PHNhbWw+' }] })],
    ['an assertion that is no JWT', () => ({ assertions: [{ format: 'id_token', value: 'x' }] })],
  ])('a hint with %s is refused', async (_, userOf) => {
    expect(await hinted(userOf())).toMatchObject(refusedWith('unknown_user'));
  });

  test('an ID token of another issuer, key, type or content is refused', async () => {
    const { told } = await given({ ...READ, ...WHO });
    const real = told.body.subject.assertions[0]?.value ?? '';
    const { privateKey } = GENERATE.RS256();
    const [header = '', payload = '', signature = ''] = real.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const claims = decodeJwt(real);
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const bob = encode({ ...claims, sub: gnap.flow.people.bob.id });
    const forged = [
      signJws({ alg: 'RS256', typ: 'JWT', kid }, claims, privateKey),
      signJws(
        { alg: 'RS256', typ: 'JWT', kid: 'evil' },
        { ...claims, iss: 'https://evil.example' },
        privateKey,
      ),
      `${encode({ alg: 'none', typ: 'JWT', kid })}.${payload}.`,
      `${encode({ alg: 'RS256', kid })}.${payload}.${signature}`,
      `${header}.${bob}.${signature}`,
      `${header}.${payload}.`,
      tokenOf(told),
      told.body.access_token.manage.access_token.value,
    ];
    for (const value of forged) {
      const user = { assertions: [{ format: 'id_token', value }] };
      expect(await hinted(user)).toMatchObject(refusedWith('unknown_user'));
    }
    const asked = await hinted({ assertions: [{ format: 'id_token', value: real }] });
    const page = await open(asked, await gnap.flow.signedIn('alice'));
    expect(page.text).toContain('photos:read');
  });

  test('an unverified address does not identify the person', async () => {
    const asked = await hinted({ sub_ids: [{ format: 'email', email: 'alice@example.com' }] });
    const page = await open(asked, await gnap.flow.signedIn('alice'));
    expect(page.text.includes('photos:read')).toBe(false);
    await after(asked, page);
  });

  test('a hint gives a machine no access in the name of a person', async () => {
    const machine = testKey('machine');
    await gnap.register(machine);
    const user = opaque(gnap.flow.people.alice.id);
    expect(await ask({ ...READ, user }, machine)).toMatchObject(refusedWith('request_denied'));
    expect(await ask({ ...READ, user: {} }, machine)).toMatchObject(refusedWith('request_denied'));
  });
});

describe('floods', () => {
  test('requests that wait for a person have a limit for each address and client', async () => {
    await reopen({ limits: { visits: { burst: 5, per: 1000 } }, gnap: { clients: 'anybody' } });
    const told = [];
    for (let count = 0; count < 8; count += 1) {
      told.push(await ask({ ...READ, interact: REDIRECT }, testKey(`k${count}`)));
    }
    expect(told.slice(0, 5).map(({ status }) => status)).toEqual(Array(5).fill(200));
    for (const { status, headers } of told.slice(5)) {
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('the limit of all addresses together holds', async () => {
    const allVisits = { burst: 4, per: 1000 };
    await reopen({ limits: { allVisits }, gnap: { clients: 'anybody' } });
    const told = [];
    for (let count = 0; count < 6; count += 1) {
      told.push(await ask({ ...READ, interact: REDIRECT }, testKey(`k${count}`)));
    }
    expect(told.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test.each([
    ['wait for a person', { ...READ, interact: REDIRECT }, '/gnap', 200],
    ['ask as a machine', READ, '/gnap', 400],
    ['ask about a token', { access_token: 'x' }, '/gnap/introspect', 200],
  ])('strangers who %s leave no row once the limit of their address is reached', async (...row) => {
    const [, json, path, taken] = row;
    await reopen({ limits: { visits: { burst: 3, per: 1000 } }, gnap: { clients: 'anybody' } });
    using remembered = jest.spyOn(gnap.flow.authz.stores.replay, 'unique');
    const statuses = [];
    for (let count = 0; count < 10; count += 1) {
      const key = testKey(`k${count}`);
      const whose = path === '/gnap' ? 'client' : 'resource_server';
      const asked = { ...json, [whose]: { key: key.byValue } };
      statuses.push((await send(path, { json: asked }, key)).status);
    }
    expect(statuses).toEqual([...Array(3).fill(taken), ...Array(7).fill(429)]);
    expect(remembered).toHaveBeenCalledTimes(3);
  });

  test('a client leaves no row once its own limit is reached; a replay does not count against the limit', async () => {
    await reopen({ limits: { client: { burst: 3, per: 1000 } } });
    const machine = testKey('k1');
    await gnap.register(machine);
    using remembered = jest.spyOn(gnap.flow.authz.stores.replay, 'unique');
    const path = '/gnap';
    const json = { ...READ, client: { key: machine.byValue } };
    const replayed = signedBy(
      machine,
      { url: gnap.issuer + path, method: 'POST', json },
      gnap.now(),
    );
    const replay = async () => {
      const { fields: headers, content: body = '' } = replayed;
      const url = gnap.flow.authz.url + path;
      return (await fetched(url, { method: 'POST', headers, body })).status;
    };
    expect([await replay(), await replay(), await replay()]).toEqual([200, 400, 400]);
    const statuses = [];
    for (let count = 0; count < 6; count += 1) statuses.push((await ask(READ, machine)).status);
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
    expect(remembered).toHaveBeenCalledTimes(5);
  });

  test('a client that polls too early, or ends and rotates tokens beyond the limit, leaves no row', async () => {
    await reopen({ limits: { visits: { burst: 2, per: 1000 } } });
    const machine = testKey('k1');
    await gnap.register(machine);
    const tokens = await Promise.all(Array.from({ length: 4 }, () => ask(READ, machine)));
    const asked = await ask({ ...READ, interact: REDIRECT }, machine);
    const { value: token } = asked.body.continue.access_token;
    using remembered = jest.spyOn(gnap.flow.authz.stores.replay, 'unique');
    const polled = await tenTimes(() => send('/gnap/continue', { token }, machine));
    expect(polled.map(errorOf)).toEqual(Array(10).fill('too_fast'));
    const statuses = [];
    for (const [count, told] of tokens.entries()) {
      const method = count % 2 === 0 ? 'DELETE' : 'POST';
      statuses.push((await manage(told, { method }, machine)).status);
    }
    expect(statuses).toEqual([204, 200, 429, 429]);
    // The rows are two proofs and one rotation.
    expect(remembered).toHaveBeenCalledTimes(3);
  });

  test.each<[string, () => Promise<(next: TestKey) => Promise<Told>>]>([
    [
      'a reference that is not of the grant',
      async () => {
        const asked = await ask({ ...READ, interact: REDIRECT });
        const { value: token } = asked.body.continue.access_token;
        return () => send('/gnap/continue', { token, json: { interact_ref: 'wrong' } });
      },
    ],
    [
      'the end of a grant that has ended',
      async () => {
        const { value: token } = (await given()).told.body.continue.access_token;
        return () => send('/gnap/continue', { token, method: 'DELETE' });
      },
    ],
    [
      'the end of a token that has ended',
      async () => {
        const { told } = await given();
        expect((await manage(told, { method: 'DELETE' })).status).toBe(204);
        return () => manage(told, { method: 'DELETE' });
      },
    ],
    [
      'a rotation whose second proof is a replay',
      async () => {
        const { told } = await given();
        return (next) => manage(told, { json: { key: next.byValue }, next, nextNonce: 'one' });
      },
    ],
  ])('after %s a row stays only if the request was paid for', async (_, prepare) => {
    await reopen({ limits: { client: { burst: 4, per: 1000 }, visits: { burst: 4, per: 1000 } } });
    const work = await prepare();
    const next = testKey('next');
    using remembered = jest.spyOn(gnap.flow.authz.stores.replay, 'unique');
    for (let count = 0; count < 20; count += 1) await work(next);
    expect(remembered.mock.calls.length).toBeLessThan(12);
  });

  test('forged requests do not use up the limit of a client', async () => {
    await reopen({ limits: { client: { burst: 2, per: 1000 } } });
    const machine = testKey('k1');
    await gnap.register(machine);
    const json = { ...READ, client: { key: machine.byValue } };
    for (let count = 0; count < 5; count += 1) {
      expect(await send('/gnap', { json })).toMatchObject(refusedWith('invalid_client'));
    }
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await ask(READ, machine)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('a request without a valid signature leaves no row', async () => {
    const asked = { client: { key: testKey('other').byValue }, ...READ, interact: REDIRECT };
    expect((await send('/gnap', { json: asked })).body).not.toHaveProperty('continue');
    expect((await gnap.flow.authz.stores.clients.list()).some(({ gnap: own }) => own)).toBe(false);
  });

  test('an unknown client leaves no record before a person allows something', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    await decide(browser, await open(asked, browser), { decision: 'deny' });
    expect(await gnap.flow.authz.stores.clients.get(idOf(gnap.key))).toBeUndefined();
  });
});

describe('a client, a person or a sign-in that ends in between', () => {
  async function decided(body: object, key = gnap.key) {
    const asked = await ask({ ...body, interact: REDIRECT }, key);
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    // A registered client is not asked about again.
    const end = page.headers.has('location') ? page : await decide(browser, page);
    return { asked, browser, ref: refOf(end) };
  }
  const signOut = async (browser: TestBrowser) =>
    browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');

  test.each([
    ['tokens', READ],
    ['who the person is', WHO],
    ['both', { ...READ, ...WHO }],
  ])('a client that is removed after the decision does not get %s', async (_, body) => {
    const { asked, ref } = await decided(body);
    await removeClient(idOf(gnap.key));
    const told = await gnap.proceed(asked, ref);
    expect(told.status).toBe(400);
    expect(told.body).not.toHaveProperty('subject');
    expect((await gnap.proceed(asked)).body).not.toHaveProperty('access_token');
  });

  test('a registered client that is removed before the decision gets no token, and is not accepted as unknown', async () => {
    await reopen({ gnap: { clients: 'registered' } });
    await gnap.register(gnap.key);
    const asked = await ask({ ...READ, interact: REDIRECT });
    await removeClient(idOf(gnap.key));
    const finish = { ...REDIRECT.finish, uri: 'https://evil.example/back' };
    const changed = await gnap.proceed(
      asked,
      { ...BOTH, interact: { ...REDIRECT, finish } },
      'PATCH',
    );
    expect(changed.status).toBe(400);
    const browser = await gnap.flow.signedIn('alice');
    expect((await open(asked, browser)).status).toBe(400);
  });

  test('if unknown clients may ask, a removed client does not return by an earlier request', async () => {
    await gnap.register(gnap.key, { scope: 'photos:read' });
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    await removeClient(idOf(gnap.key));
    await decide(browser, page);
    expect(await gnap.flow.authz.stores.clients.get(idOf(gnap.key))).toBeUndefined();
  });

  test.each(['unknown', 'registered'])(
    'a client (%s) that was removed and returns has none of its former access',
    async (kind) => {
      if (kind === 'registered') await gnap.register(gnap.key);
      const { told } = await given({ ...BOTH, ...WHO });
      const waiting = await decided(READ);
      await removeClient(idOf(gnap.key));
      expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
      if (kind === 'registered') await gnap.register(gnap.key);
      await given(READ, { name: 'bob' });
      const attempts = [
        await gnap.proceed(told),
        await gnap.proceed(told, READ, 'PATCH'),
        await manage(told),
        await gnap.proceed(waiting.asked, waiting.ref),
      ];
      expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
      const got = attempts.map(({ body }) => 'access_token' in body || 'subject' in body);
      expect(got).toEqual([false, false, false, false]);
    },
  );

  test('a client that is ended while its key is checked gets no token of the new generation', async () => {
    const machine = testKey('machine');
    await gnap.register(machine, { grant_types: ['client_credentials'] });
    const { clients } = gnap.flow.authz.stores;
    const get = clients.get.bind(clients);
    using looked = jest.spyOn(clients, 'get');
    looked.mockImplementationOnce(async (id) => {
      const found = await get(id);
      await endClient(gnap.flow.store, id);
      return found;
    });
    expect(await ask(READ, machine)).toMatchObject(refusedWith('invalid_client'));
    expect((await ask(READ, machine)).body).toHaveProperty('access_token');
  });

  test('after the end of all access of a client it has none of its former access, and may ask again', async () => {
    await gnap.register(gnap.key);
    const { told } = await given(READ);
    const waiting = await decided(READ);
    await endClient(gnap.flow.store, idOf(gnap.key));
    const { artefacts } = gnap.flow.authz.stores;
    for (const kind of ['Access', 'Consent']) {
      const { found } = await artefacts.pageByClient(kind, idOf(gnap.key), { limit: 9 });
      expect(found).toEqual([]);
    }
    const attempts = [
      await gnap.proceed(told),
      await gnap.proceed(told, READ, 'PATCH'),
      await manage(told),
      await gnap.proceed(waiting.asked, waiting.ref),
    ];
    expect(await isActive(tokenOf(told))).toEqual(INACTIVE);
    const got = attempts.map(({ body }) => 'access_token' in body || 'subject' in body);
    expect(got).toEqual([false, false, false, false]);
    expect(await isActive(tokenOf((await given(READ)).told))).toMatchObject({ active: true });
  });

  test.each([
    ['tokens', READ],
    ['who the person is', WHO],
    ['both', { ...READ, ...WHO }],
  ])('after the end of all access of a person the client is refused %s', async (_, body) => {
    const { asked, ref } = await decided(body);
    await endEverything(gnap.flow.store, gnap.flow.people.alice.id);
    const told = await gnap.proceed(asked, ref);
    expect(told.body).not.toHaveProperty('access_token');
    expect(told.body).not.toHaveProperty('subject');
    // Otherwise the client would wait for a person who has already decided.
    expect(told.status).toBe(400);
  });

  test.each([
    ['tokens', READ],
    ['who the person is', WHO],
  ])(
    'once the generation is raised the client is refused %s, before its rows are removed',
    async (_, body) => {
      const { told } = await given(body);
      const { revocations } = gnap.flow.authz.stores;
      const until = rememberUntil(gnap.flow.clock.now(), gnap.flow.store.longestLife);
      await revocations.raise('person', gnap.flow.people.alice.id, until);
      const again = await gnap.proceed(told);
      expect(again.body).not.toHaveProperty('access_token');
      expect(again.body).not.toHaveProperty('subject');
    },
  );

  test.each([
    ['tokens', READ],
    ['who the person is', WHO],
  ])('a sign-out ends the grant of that browser: the client is refused %s', async (_, body) => {
    const { told, browser } = await given(body);
    await signOut(browser);
    const again = await gnap.proceed(told);
    expect(again.body).not.toHaveProperty('access_token');
    expect(again.body).not.toHaveProperty('subject');
    expect(again.status).toBe(400);
  });

  test.each([
    ['tokens', READ],
    ['who the person is', WHO],
  ])('when the sign-in has run out, the client is refused %s', async (_, body) => {
    const { told } = await given(body);
    gnap.flow.clock.advance(gnap.flow.authz.config.people.session + 10);
    const again = await gnap.proceed(told);
    expect(again.body).not.toHaveProperty('access_token');
    expect(again.body).not.toHaveProperty('subject');
  });

  test('a decision after a sign-out is not accepted', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    await signOut(browser);
    const end = await decide(browser, page);
    expect(end.headers.get('location') ?? '').not.toMatch(CALLBACK);
    expect(await gnap.flow.grants('alice')).toBe(0);
  });

  test('if another person signs in between the page and the decision, the decision belongs to that person', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    await signOut(browser);
    await signIn(browser, await browser.open('/account'), 'bob');
    await decide(browser, page);
    expect(await gnap.flow.grants('alice')).toBe(0);
  });
});
