import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { signedBy, testKey } from '#shared/gnap/client.fixture.ts';
import { textsOf } from '../../pages/texts/index.ts';
import type { Page } from '../browser.fixture.ts';
import { post } from '../device/device.fixture.ts';
import {
  ask,
  BOTH,
  change,
  decide,
  deliver,
  errorOf,
  given,
  gnap,
  idOf,
  isActive,
  MAILS,
  open,
  refOf,
  refusedWith,
  reopen,
  send,
  tenTimes,
  tokenOf,
} from './attacks.fixture.ts';
import { CALLBACK, PHOTOS, READ, REDIRECT, type Told } from './gnap.fixture.ts';

describe('RFC 9635 section 5: the continuation of another client', () => {
  test('a continuation token with the key of another client is refused, and stays valid', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const thief = testKey('k1');
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      expect(
        await gnap.proceed(asked, method === 'DELETE' ? undefined : {}, method, thief),
      ).toMatchObject(refusedWith('invalid_client'));
    }
    expect((await gnap.proceed(asked)).status).toBe(200);
  });

  test('a signature for one grant does not continue another one of the same client', async () => {
    const first = await ask({ ...READ, interact: REDIRECT });
    const second = await ask({ ...BOTH, interact: REDIRECT });
    gnap.flow.clock.advance(5);
    const token = first.body.continue.access_token.value;
    const url = `${gnap.issuer}/gnap/continue`;
    const { fields } = signedBy(gnap.key, { method: 'DELETE', url, token }, gnap.now());
    const authorization = `GNAP ${second.body.continue.access_token.value}`;
    const swapped = { fields: { ...fields, authorization } };
    expect(await deliver('/gnap/continue', swapped, 'DELETE')).toMatchObject(
      refusedWith('invalid_client'),
    );
    expect((await gnap.proceed(second)).status).toBe(200);
  });

  test.each(['POST', 'PATCH', 'DELETE'])(
    'a %s request with any other token is refused',
    async (method) => {
      const { told } = await given();
      const { access_token: own } = told.body;
      const tokens = [own.value, own.manage.access_token.value, 'x', 'A'.repeat(44)];
      for (const token of tokens) {
        const asked = { method, token, ...(method === 'PATCH' && { json: READ }) };
        expect(await send('/gnap/continue', asked)).toMatchObject(
          refusedWith('invalid_continuation'),
        );
      }
      expect(await isActive(own.value)).toMatchObject({ active: true });
    },
  );

  test.each(['Bearer', 'DPoP', 'Basic'])(
    'the token with the scheme %s is refused',
    async (scheme) => {
      const asked = await ask({ ...READ, interact: REDIRECT });
      const token = asked.body.continue.access_token.value;
      gnap.flow.clock.advance(5);
      expect(await send('/gnap/continue', { token, scheme })).toMatchObject({ status: 400 });
      expect(await send('/gnap/continue', {})).toMatchObject(refusedWith('invalid_continuation'));
    },
  );

  test('if ten polls without a finish come at the same time, one gets the tokens', async () => {
    const asked = await ask({ ...READ, interact: { start: ['redirect'] } });
    const browser = await gnap.flow.signedIn('alice');
    await decide(browser, await open(asked, browser));
    gnap.flow.clock.advance(5);
    const token = asked.body.continue.access_token.value;
    const told = await tenTimes(() => send('/gnap/continue', { token }));
    expect(told.filter(({ body }) => 'access_token' in body)).toHaveLength(1);
    expect(told.filter((one) => errorOf(one) === 'too_fast')).toHaveLength(9);
  });
});

describe('RFC 9635 section 4.2: the reference of an interaction', () => {
  async function decided(name: 'alice' | 'bob' = 'alice') {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn(name);
    return { asked, ref: refOf(await decide(browser, await open(asked, browser))) };
  }
  const proceed = (asked: Told, json: object) =>
    send('/gnap/continue', { token: asked.body.continue.access_token.value, json });

  test('if ten requests come at the same time, one gets the tokens, and there is one grant', async () => {
    const { asked, ref } = await decided();
    const told = await tenTimes(() => proceed(asked, ref));
    expect(told.filter(({ body }) => 'access_token' in body)).toHaveLength(1);
    expect(told.filter((one) => errorOf(one) === 'too_many_attempts')).toHaveLength(9);
    expect(await gnap.flow.grants('alice')).toBe(1);
  });

  test('a wrong, foreign or missing reference gives no token, and uses up no reference', async () => {
    const [mine, theirs] = [await decided(), await decided('bob')];
    const wrong = [theirs.ref, { interact_ref: 'x' }, { interact_ref: 'A'.repeat(22) }];
    for (const ref of wrong) {
      expect(await proceed(mine.asked, ref)).toMatchObject(refusedWith('invalid_interaction'));
    }
    expect(await proceed(mine.asked, { interact_ref: '' })).toMatchObject({ status: 400 });
    expect(await proceed(mine.asked, { interact_ref: [mine.ref.interact_ref] })).toMatchObject({
      status: 400,
    });
    expect((await gnap.proceed(mine.asked)).body).not.toHaveProperty('access_token');
    expect((await proceed(mine.asked, mine.ref)).body).toHaveProperty('access_token');
  });

  test('before the decision there is no reference', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    for (const interact_ref of ['x', 'undefined', hash('sha256', '', 'base64url')]) {
      expect(await proceed(asked, { interact_ref })).toMatchObject(
        refusedWith('invalid_interaction'),
      );
    }
  });

  test('a replay gives no token, and ends no grant', async () => {
    const { told, asked, ref } = await given();
    expect(await proceed(asked, ref)).toMatchObject(refusedWith('too_many_attempts'));
    expect(await isActive(tokenOf(told))).toMatchObject({ active: true });
  });

  test('after ten minutes the request no longer waits', async () => {
    const { asked, ref } = await decided();
    gnap.flow.clock.advance(601);
    expect(await proceed(asked, ref)).toMatchObject(refusedWith('invalid_continuation'));
  });
});

describe('the page of a request', () => {
  test('a form without the token of the browser, or from elsewhere, decides nothing', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    const { pathname } = new URL(page.url);
    const form = page.forms.find(({ action }) => action === pathname);
    const fields = { ...Object.fromEntries(form?.fields ?? []), decision: 'allow' };
    const attempts: readonly (readonly [object, Record<string, string>])[] = [
      [{ csrf: '' }, {}],
      [{ csrf: 'x'.repeat(43) }, {}],
      [{}, { origin: 'https://evil.example' }],
      [{}, { origin: 'null' }],
      [{}, { 'content-type': 'text/plain' }],
      [{ decision: 'maybe' }, {}],
      [{ decision: '' }, {}],
    ];
    for (const [changes, headers] of attempts) {
      const sent = new URLSearchParams({ ...fields, ...changes });
      const { status } = await browser.request('POST', pathname, sent, headers);
      expect([400, 403, 415]).toContain(status);
    }
    await browser.open(
      `${pathname}?decision=allow&item=${encodeURIComponent(`${PHOTOS} photos:read`)}`,
    );
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect((await decide(browser, page)).headers.get('location')).toMatch(CALLBACK);
  });

  test('a decision needs a sign-in', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const alice = await gnap.flow.signedIn('alice');
    const page = await open(asked, alice);
    const stranger = gnap.flow.browser();
    await stranger.open(asked.body.interact.redirect);
    const { pathname } = new URL(page.url);
    const form = page.forms.find(({ action }) => action === pathname);
    stranger.plant(alice, /csrf/);
    const fields = new URLSearchParams(Object.fromEntries(form?.fields ?? []));
    fields.set('decision', 'allow');
    const { headers } = await stranger.request('POST', pathname, fields);
    expect(headers.get('location') ?? '').not.toMatch(CALLBACK);
    expect((await gnap.proceed(asked)).body).not.toHaveProperty('access_token');
  });

  test('if two people decide at the same time, one decision is valid, and the other grant ends', async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browsers = [await gnap.flow.signedIn('alice'), await gnap.flow.signedIn('bob')];
    const pages = await Promise.all(browsers.map((browser) => open(asked, browser)));
    const ends = await Promise.all(
      browsers.map((browser, at) => decide(browser, pages[at] as Page)),
    );
    const won = ends.filter(({ headers }) => headers.has('location'));
    expect(won).toHaveLength(1);
    expect((await gnap.flow.grants('alice')) + (await gnap.flow.grants('bob'))).toBe(1);
    const told = await gnap.proceed(asked, refOf(won[0] as Page));
    const winner = won[0] === ends[0] ? 'alice' : 'bob';
    expect(decodeJwt(tokenOf(told)).sub).toBe(gnap.flow.people[winner].id);
  });

  test("if a person allows and refuses at the same time, the client's answer matches the account page", async () => {
    const asked = await ask({ ...READ, interact: REDIRECT });
    const browsers = [await gnap.flow.signedIn('alice'), await gnap.flow.signedIn('alice')];
    const pages = await Promise.all(browsers.map((browser) => open(asked, browser)));
    const ends = await Promise.all(
      browsers.map((browser, at) =>
        decide(browser, pages[at] as Page, { decision: at === 0 ? 'allow' : 'deny' }),
      ),
    );
    const won = ends.filter(({ headers }) => headers.has('location'));
    expect(won).toHaveLength(1);
    const told = await gnap.proceed(asked, refOf(won[0] as Page));
    expect(await gnap.flow.grants('alice')).toBe('access_token' in told.body ? 1 : 0);
  });

  test('after a decision the page no longer exists for any visitor', async () => {
    const { asked, browser, ref } = await given();
    const bob = await gnap.flow.signedIn('bob');
    // The browser that decided may have lost the answer, and the client has continued.
    const own = await open(asked, browser);
    expect(own.text).toContain('The sign-in is done');
    expect(own.text).not.toContain(ref.interact_ref);
    expect((await open(asked, bob)).status).toBe(400);
    gnap.flow.clock.advance(31);
    for (const one of [browser, bob]) expect((await open(asked, one)).status).toBe(400);
  });

  test('items that the client did not request cannot be allowed', async () => {
    const item = [
      `${PHOTOS} photos:read`,
      `${PHOTOS} photos:write`,
      `${MAILS} mails:read`,
      'openid',
      'email',
    ];
    const { told } = await given(READ, { changes: { item } });
    expect(decodeJwt(tokenOf(told))).toMatchObject({ scope: 'photos:read' });
    expect(told.body).not.toHaveProperty('subject');
  });

  test('a person who unticks all items has refused', async () => {
    const asked = await ask({ ...BOTH, interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    const ref = refOf(await decide(browser, await open(asked, browser), { item: [] }));
    expect(await gnap.proceed(asked, ref)).toMatchObject(refusedWith('user_denied'));
    expect(await gnap.flow.grants('alice')).toBe(0);
  });

  test('section 3.2: access that a person unticks is in no part of the answer or the token', async () => {
    const access = [
      'photos:read photos:write',
      { type: 'photo-api', actions: ['write'] },
      { type: PHOTOS, actions: ['photos:read', 'photos:write'] },
    ];
    const changes = { item: `${PHOTOS} photos:read` };
    const { told } = await given({ access_token: { access } }, { changes });
    expect(JSON.stringify(told.body.access_token.access)).not.toContain('write');
    expect(JSON.stringify(decodeJwt(tokenOf(told)))).not.toContain('write');
  });

  test('section 3.2: a scope that is a URL and that a person unticks is in no part of the answer or the token', async () => {
    const [read, write] = ['https://scopes.example/read', 'https://scopes.example/write'];
    const space = {
      url: PHOTOS,
      realm: 'photos',
      schemes: ['GNAP'],
      scopes: { safe: [read], unsafe: [write] },
    };
    await reopen({ spaces: [space] });
    const access = [`${PHOTOS} ${read} ${write}`];
    const { told } = await given(
      { access_token: { access } },
      { changes: { item: `${PHOTOS} ${read}` } },
    );
    expect(decodeJwt(tokenOf(told))).toMatchObject({ scope: read });
    expect(JSON.stringify(told.body.access_token.access)).not.toContain(write);
  });

  test('a bearer flag, a label and a second token in one space add no question for the person', async () => {
    const access_token = [
      { label: 'a', access: ['photos:read'] },
      { label: 'b', access: ['photos:read photos:write'] },
    ];
    const { told } = await given({ access_token }, { changes: { item: `${PHOTOS} photos:read` } });
    const tokens = told.body.access_token as unknown as { access: unknown; value: string }[];
    expect(tokens.map(({ access }) => access)).toEqual([['photos:read'], ['photos:read']]);
  });

  test('section 11.15: an unknown client must have a visible name', async () => {
    for (const name of ['', ' ', '\u200B', '\u00A0\u2003', '\u00AD']) {
      const client = { key: gnap.key.byValue, display: { name } };
      const asked = await send('/gnap', { json: { ...READ, client, interact: REDIRECT } });
      if (asked.status !== 200) continue;
      const page = await open(asked, await gnap.flow.signedIn('alice'));
      expect([name, page.text.includes(idOf(gnap.key))]).toEqual([name, true]);
    }
  });

  test('section 11.15: the name of an unknown client cannot reverse the text around it', async () => {
    for (const name of [
      'Prints\u202Esknab',
      'a\u2066b',
      'a\u0000b',
      'a\nb',
      'a\u2028b',
      'a\u0085b',
      'a\uD800b',
    ]) {
      const client = { key: gnap.key.byValue, display: { name } };
      const asked = await send('/gnap', { json: { ...READ, client, interact: REDIRECT } });
      if (asked.status !== 200) continue;
      const page = await open(asked, await gnap.flow.signedIn('alice'));
      expect([name, page.text.includes(name)]).toEqual([name, false]);
    }
  });

  test('markup in the data of a client is shown as text', async () => {
    const evil = '<script>alert(1)</script>';
    await gnap.register(gnap.key, { client_name: evil });
    const access = [
      { type: 'photo-api', actions: ['read'], datatypes: [evil], identifier: `"'>${evil}` },
    ];
    const asked = await ask({ access_token: { access }, interact: REDIRECT });
    const page = await open(asked, await gnap.flow.signedIn('alice'));
    expect(page.status).toBe(200);
    expect(page.text).not.toContain(evil);
  });

  // A link from an attacker is as dangerous as a code from an attacker: only the asking client gets the result.
  test.each<[string, object]>([
    ['no finish', { start: ['redirect'] }],
    ['a push', { start: ['redirect'], finish: { ...REDIRECT.finish, method: 'push' } }],
  ])(
    'section 11.23: the page of a link with %s has the same warning as the page of a code',
    async (_, interact) => {
      const page = await open(await ask({ ...READ, interact }), await gnap.flow.signedIn('alice'));
      expect(page.forms.some(({ action }) => action.startsWith('/gnap/interact/'))).toBe(true);
      expect(page.text.includes(textsOf('en').deviceConfirm.linkTitle)).toBe(true);
    },
  );

  test('a client that loses scopes meanwhile causes no error 500', async () => {
    const key = testKey('shrinks');
    await gnap.register(key);
    const asked = await ask({ ...BOTH, interact: REDIRECT }, key);
    const browser = await gnap.flow.signedIn('alice');
    const page = await open(asked, browser);
    await change(key, { scope: 'photos:read' });
    expect((await decide(browser, page)).status).toBeLessThan(500);
    expect((await open(asked, browser)).status).toBeLessThan(500);
    expect((await gnap.proceed(asked, undefined, 'POST', key)).body).not.toHaveProperty(
      'access_token',
    );
  });
});

describe('RFC 8628 section 5.1: guessing user codes', () => {
  const CODE = { ...READ, interact: { start: ['user_code'] } };

  test('the limit holds for GNAP codes, by link and by form, also for the right code', async () => {
    await reopen({ limits: { userCode: { burst: 3, per: 1000 } }, gnap: { clients: 'anybody' } });
    const { user_code } = (await ask(CODE)).body.interact;
    const browser = await gnap.flow.signedIn('alice');
    for (const guess of ['BBBB-BBBB', 'CCCC-CCCC', 'DDDD-DDDD']) {
      await browser.open(`/device?user_code=${guess}`);
    }
    const late = await browser.request('GET', `/device?user_code=${user_code}`);
    const form = await post(browser, { user_code, decision: 'allow' });
    for (const one of [late, form]) expect(one.headers.get('location')).toBeNull();
    const bob = await gnap.flow.signedIn('bob');
    expect((await bob.request('GET', `/device?user_code=${user_code}`)).status).toBe(303);
  });

  test('the form for devices cannot decide about a GNAP request', async () => {
    const asked = await ask(CODE);
    const { user_code } = asked.body.interact;
    const browser = await gnap.flow.signedIn('alice');
    await post(browser, { user_code, decision: 'allow', item: `${PHOTOS} photos:read` });
    expect(await gnap.flow.grants('alice')).toBe(0);
    expect((await gnap.proceed(asked)).body).not.toHaveProperty('access_token');
  });

  test('a code no longer exists after the decision, after ten minutes and after a change', async () => {
    const browser = await gnap.flow.signedIn('alice');
    const enter = async (told: Told) =>
      browser.open(`/device?user_code=${told.body.interact.user_code}`);
    const decided = await ask(CODE);
    await decide(browser, await enter(decided));
    const old = await ask(CODE);
    gnap.flow.clock.advance(600);
    const before = await ask(CODE);
    const after = await gnap.proceed(before, CODE, 'PATCH');
    for (const one of [decided, old, before]) {
      const page = await enter(one);
      expect(page.forms.some(({ action }) => action.startsWith('/gnap/'))).toBe(false);
    }
    expect((await enter(after)).url).toMatch(/\/gnap\/interact\//);
    expect(after.body.interact.user_code).not.toBe(before.body.interact.user_code);
  });
});
