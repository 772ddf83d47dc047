import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import { clientIdOf, readKey } from '#shared/gnap/key.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type GnapFlow, openGnap, PHOTOS, READ, REDIRECT, type Told } from './gnap.fixture.ts';

let gnap: GnapFlow;
beforeEach(async () => {
  gnap = await openGnap();
});
afterEach(async () => gnap[Symbol.asyncDispose]());

const WRITE = { access_token: { access: ['photos:write'] } };
const BOTH = { access_token: { access: ['photos:read photos:write'] } };

const jtiOf = (told: Told) => String(decodeJwt(told.body.access_token.value).jti);
const isRevoked = async (jti: string) => {
  const feed = await gnap.flow.authz.stores.revocations.feed();
  const claims = { jti, kid: 'k', sub: 's', client_id: 'c', client_gen: 0, epoch: '' };
  const view = await feed.latest();
  return view.revokedBy({ ...claims, epoch: view.epoch ?? '' }) === 'token';
};

/** Returns access that a person allows by redirect. */
async function given(body: object): Promise<Told> {
  const asked = await gnap.ask({ ...body, interact: REDIRECT });
  const back = await gnap.allow(asked);
  return gnap.proceed(asked, { interact_ref: back.searchParams.get('interact_ref') });
}

describe('RFC 9635 section 5.3: a client changes its requested access', () => {
  test('a change to less access gets a token at once, and the former token ends', async () => {
    const first = await given(BOTH);
    const second = await gnap.proceed(first, READ, 'PATCH');
    expect(second.body.access_token.access).toEqual(['photos:read']);
    expect(decodeJwt(second.body.access_token.value)).toMatchObject({ scope: 'photos:read' });
    expect([await isRevoked(jtiOf(first)), await isRevoked(jtiOf(second))]).toEqual([true, false]);
    const third = await gnap.proceed(first, WRITE, 'PATCH');
    expect(third.body.access_token.access).toEqual(['photos:write']);
    expect(await gnap.flow.grants('alice')).toBe(1);
  });

  test('a change that got 503 and is repeated also ends the former token', async () => {
    const first = await given(BOTH);
    const { revocations } = gnap.flow.authz.stores;
    const down = jest.spyOn(revocations, 'revoke').mockRejectedValue(new StoreUnavailable('down'));
    expect((await gnap.proceed(first, READ, 'PATCH')).status).toBe(503);
    down.mockRestore();
    const second = await gnap.proceed(first, READ, 'PATCH');
    expect([await isRevoked(jtiOf(first)), await isRevoked(jtiOf(second))]).toEqual([true, false]);
  });

  test('a change to more access gets no token before a person allows it', async () => {
    const first = await given(READ);
    const refused = await gnap.proceed(first, BOTH, 'PATCH');
    expect(refused.body).toMatchObject({ error: { code: 'request_denied' }, continue: {} });
    expect(await isRevoked(jtiOf(first))).toBe(false);
    const asked = await gnap.proceed(first, { ...BOTH, interact: REDIRECT }, 'PATCH');
    expect(asked.body).not.toHaveProperty('access_token');
    const back = await gnap.allow(asked);
    const ref = { interact_ref: back.searchParams.get('interact_ref') };
    const second = await gnap.proceed(asked, ref);
    expect(second.body.access_token.access).toEqual(['photos:read photos:write']);
    expect(await gnap.flow.grants('alice')).toBe(1);
  });

  test('a refused change leaves the grant as it was', async () => {
    const first = await given(READ);
    const asked = await gnap.proceed(first, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const { browser, page } = await gnap.onPage(asked);
    const end = await browser.submit(page, { decision: 'deny' }, new URL(page.url).pathname);
    const url = new URL(end.headers.get('location') ?? '');
    const ref = { interact_ref: url.searchParams.get('interact_ref') };
    const denied = await gnap.proceed(asked, ref);
    expect(denied.body).toMatchObject({ error: { code: 'user_denied' }, continue: {} });
    expect((await gnap.proceed(first)).body.access_token.access).toEqual(['photos:read']);
  });

  test('a waiting change replaces the page of the former request', async () => {
    const asked = await gnap.ask({ ...READ, interact: REDIRECT });
    const changed = await gnap.proceed(asked, { ...BOTH, interact: REDIRECT }, 'PATCH');
    const { page } = await gnap.onPage(changed);
    expect(page.text).toContain('photos:write');
    expect((await gnap.flow.browser().open(asked.body.interact.redirect)).status).toBe(400);
  });
});

describe('section 6: a client manages its token', () => {
  const manage = (told: Told, more: object = {}, key?: TestKey) => {
    const { uri, access_token: own } = told.body.access_token.manage;
    return gnap.send(new URL(uri).pathname, { token: own.value, ...more }, key);
  };

  test('section 6.1: a rotation ends the former token at once, and a later change of access ends the rotated token', async () => {
    const first = await given(BOTH);
    const second = await manage(first);
    expect(second.body.access_token.access).toEqual(first.body.access_token.access);
    expect([await isRevoked(jtiOf(first)), await isRevoked(jtiOf(second))]).toEqual([true, false]);
    await gnap.proceed(first, READ, 'PATCH');
    expect(await isRevoked(jtiOf(second))).toBe(true);
    expect((await manage(second)).body.error.code).toBe('invalid_rotation');
  });

  test('section 6.2: a client can revoke a token, and can repeat this', async () => {
    const first = await given(READ);
    expect((await manage(first, { method: 'DELETE' })).status).toBe(204);
    const again = { method: 'DELETE', params: { nonce: 'another' } };
    expect((await manage(first, again)).status).toBe(204);
    expect(await isRevoked(jtiOf(first))).toBe(true);
  });

  test('section 6.1.1: a rotation of the key needs both signatures, and the new key binds the token and its management', async () => {
    const next = testKey('k2', 'ES256');
    const first = await given(READ);
    const rotated = await manage(first, { json: { key: next.byValue }, next });
    expect(decodeJwt(rotated.body.access_token.value)).toMatchObject({
      cnf: { jwk: next.byValue.jwk },
    });
    expect((await manage(rotated)).body.error.code).toBe('invalid_client');
    expect((await manage(rotated, {}, next)).status).toBe(200);
  });
});

describe('requests for several tokens, access objects and information about the person', () => {
  test('section 2.1.2: each labelled token has an audience of its own', async () => {
    const asked = [
      { label: 'a', access: ['photos:read'] },
      { label: 'b', access: ['mails:read'] },
    ];
    const { body } = await given({ access_token: asked });
    const tokens = body.access_token as unknown as { label: string; value: string }[];
    expect(tokens.map(({ label, value }) => [label, decodeJwt(value).aud])).toEqual([
      ['a', PHOTOS],
      ['b', 'https://api.example/mails/'],
    ]);
  });

  test('section 8: an object requests actions, which the page shows in words', async () => {
    const access = { type: 'photo-api', actions: ['read', 'write'], datatypes: ['image/png'] };
    const asked = await gnap.ask({ access_token: { access: [access] }, interact: REDIRECT });
    const { browser, page } = await gnap.onPage(asked);
    expect(page.text).toContain('read, write (photo-api)');
    expect(page.text).toContain('image/png');
    const unticked = { decision: 'allow', item: `${PHOTOS} photos:read` };
    const end = await browser.submit(page, unticked, new URL(page.url).pathname);
    const url = new URL(end.headers.get('location') ?? '');
    const { body } = await gnap.proceed(asked, {
      interact_ref: url.searchParams.get('interact_ref'),
    });
    expect(body.access_token.access).toEqual([{ ...access, actions: ['read'] }]);
    expect(decodeJwt(body.access_token.value)).toMatchObject({ scope: 'photos:read' });
  });

  test('section 3.4: the client gets identifiers of the person, and an ID token that it can use as a hint later', async () => {
    const subject = {
      sub_id_formats: ['opaque', 'iss_sub', 'email'],
      assertion_formats: ['id_token'],
    };
    const { body } = await given({ subject });
    const { id } = gnap.flow.people.alice;
    expect(body).not.toHaveProperty('access_token');
    expect(body.subject.sub_ids).toEqual([
      { format: 'opaque', id },
      { format: 'iss_sub', iss: gnap.issuer, sub: id },
    ]);
    const [assertion] = body.subject.assertions;
    expect(decodeJwt(assertion?.value ?? '')).toMatchObject({
      sub: id,
      aud: clientIdOf(readKey(gnap.key.byValue)),
    });
    const user = { assertions: [assertion] };
    const hinted = await gnap.ask({ ...READ, interact: REDIRECT, user });
    const { browser, page } = await gnap.onPage(hinted, 'bob');
    expect(page.text).toContain('This is for another person');
    const end = await browser.submit(page, { decision: 'deny' }, new URL(page.url).pathname);
    const url = new URL(end.headers.get('location') ?? '');
    const ref = { interact_ref: url.searchParams.get('interact_ref') };
    expect((await gnap.proceed(hinted, ref)).body.error.code).toBe('unknown_user');
  });
});

describe('RFC 9767 section 3.3: introspection', () => {
  const server = testKey('rs', 'ES256');
  const introspect = (body: object, key = server) =>
    gnap.send(
      '/gnap/introspect',
      { json: { resource_server: { key: key.byValue }, ...body } },
      key,
    );

  beforeEach(async () => {
    await gnap.register(server, { introspects: [PHOTOS], grant_types: [] });
  });

  test('a registered resource server gets information about tokens for its space', async () => {
    const token = (await given(READ)).body.access_token.value;
    const { body } = await introspect({
      access_token: token,
      proof: 'httpsig',
      access: ['photos:read'],
    });
    expect(body).toMatchObject({
      active: true,
      iss: `${gnap.issuer}/gnap`,
      access: ['photos:read'],
      key: gnap.key.byValue,
      sub: gnap.flow.people.alice.id,
    });
  });

  test.each([
    ['access that it lacks', { access: ['photos:write'] }],
    ['access that nobody understands', { access: [{ type: 'magic' }] }],
    ['another proof method', { proof: 'mtls' }],
    ['another space', { access_token: 'MAILS' }],
    ['an invalid token', { access_token: 'x' }],
    ['a continuation token', { access_token: 'CONTINUATION' }],
    ['a management token', { access_token: 'MANAGEMENT' }],
  ])('a request with %s gets active: false', async (_what, asked) => {
    const own = await given(READ);
    const tokens: Readonly<Record<string, string>> = {
      MAILS: (await given({ access_token: { access: ['mails:read'] } })).body.access_token.value,
      CONTINUATION: own.body.continue.access_token.value,
      MANAGEMENT: own.body.access_token.manage.access_token.value,
    };
    const { access_token: name = '', ...rest } = asked as { access_token?: string };
    const token = tokens[name] ?? (name === '' ? own.body.access_token.value : name);
    expect((await introspect({ ...rest, access_token: token })).body).toEqual({ active: false });
  });

  test('a revoked token is inactive at once', async () => {
    const own = await given(READ);
    await gnap.proceed(own, undefined, 'DELETE');
    const { body } = await introspect({ access_token: own.body.access_token.value });
    expect(body).toEqual({ active: false });
  });
});

test('section 6.1: a token is not rotated after the operator removed its scope from the client', async () => {
  const key = testKey('machine', 'ES256');
  const record = await gnap.register(key);
  const first = await gnap.ask(READ, key);
  const { uri, access_token: own } = first.body.access_token.manage;
  await gnap.flow.authz.stores.clients.replace({ ...record, scope: 'mails:read' });
  const rotated = await gnap.send(new URL(uri).pathname, { token: own.value }, key);
  expect(rotated.body.error).toMatchObject({ code: 'invalid_rotation' });
});

test('a person can allow a limited number of unknown clients', async () => {
  const statuses: number[] = [];
  for (let made = 0; made < 21; made += 1) {
    const key = testKey(`k${made}`);
    const asked = await gnap.ask({ ...READ, interact: REDIRECT }, key);
    const { browser, page } = await gnap.onPage(asked);
    const end = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    statuses.push(end.status);
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
});
