import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { systemClock } from '#shared/base/clock.ts';
import { ACRS, type Acr } from '#shared/jose/acr.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import { asApp, basic, SECRET } from '../authz.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { PASSWORD, redemption, sent, testFlow } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';

const [, BY_PASSWORD, SECOND_FACTOR, PASSKEY] = ACRS;
const ALICE = { name: 'alice', password: PASSWORD };

let flow: TestFlow;
beforeAll(async () => {
  flow = await testFlow();
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
  jest.restoreAllMocks();
});

/** The engine reads the system's time, so the tests move that, and only forward. */
let ahead = 0;
const now = Date.now.bind(Date);
jest.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
function later(seconds: number) {
  ahead += seconds * 1000;
}

interface Session {
  readonly loginTs: number;
}

/**
 * Returns a browser in which alice has signed in by these means and has allowed everything. `more` changes the session.
 */
async function signedInBy(
  acr: Acr,
  amr: readonly string[] = ['user'],
  more: (session: Session) => object = () => ({}),
): Promise<TestBrowser> {
  const browser = await flow.signedIn();
  await flow.allow(browser);
  const { stores, config, accountId } = flow;
  const store = { stores, clock: systemClock, longestLife: longestLife(config) };
  const [signIn] = await listSignIns(store, accountId);
  const session = await stores.artefacts.getByUid('Session', signIn?.uid ?? '');
  if (session === undefined) throw new Error('nobody is signed in');
  const payload = { ...session, acr, amr, ...more(session as unknown as Session) };
  const id = String(session['jti']);
  await stores.artefacts.put({ kind: 'Session', id, payload, seconds: 3600 });
  return browser;
}

const asksToSignIn = ({ forms }: Page) => forms.some(({ action }) => action.endsWith('/login'));

describe('acr_values (OpenID Connect Core 1.0 section 3.1.2.1, RFC 9470 section 5)', () => {
  test.each<[has: Acr, asked: string]>([
    [BY_PASSWORD, BY_PASSWORD],
    [SECOND_FACTOR, SECOND_FACTOR],
    [PASSKEY, `${SECOND_FACTOR} ${PASSKEY}`],
    [PASSKEY, SECOND_FACTOR],
    [PASSKEY, BY_PASSWORD],
    [BY_PASSWORD, `${PASSKEY} ${BY_PASSWORD}`],
    [PASSKEY, `urn:mace:incommon:iap:silver ${PASSKEY}`],
  ])('a sign-in by %s is enough for %j', async (has, asked) => {
    const browser = await signedInBy(has);
    const answer = sent(await browser.open(flow.authorize({ acr_values: asked })));
    const { body } = await flow.redeem(answer.get('code') ?? '');
    expect(decodeJwt(String(body['access_token']))['acr']).toBe(has);
    expect(decodeJwt(String(body['id_token']))['acr']).toBe(has);
  });

  test.each<[has: Acr, asked: string, words: string]>([
    [BY_PASSWORD, `${SECOND_FACTOR} ${PASSKEY}`, 'asks for a second factor or a passkey'],
    [BY_PASSWORD, PASSKEY, 'asks for a passkey'],
    [SECOND_FACTOR, PASSKEY, 'asks for a passkey'],
  ])('after a sign-in by %s, %j asks again and says why', async (has, asked, words) => {
    const browser = await signedInBy(has);
    const page = await browser.open(flow.authorize({ acr_values: asked }));
    expect(asksToSignIn(page)).toBe(true);
    expect(page.text).toContain(`<strong>Web</strong> ${words}`);
  });

  test('if a stronger sign-in is required, a right password ends the request and starts no session', async () => {
    const browser = flow.browser();
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    const answer = sent(await browser.submit(page, ALICE));
    expect(answer.get('error')).toBe('unmet_authentication_requirements');
    expect(answer.get('state')).toBe('the state');
    expect(answer.get('code')).toBeNull();
    expect((await browser.open('/account')).text).toContain('type="password"');
  });

  test('a wrong password says only that it is wrong', async () => {
    const browser = flow.browser();
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    const again = await browser.submit(page, { ...ALICE, password: 'wrong' });
    expect([again.status, asksToSignIn(again)]).toEqual([422, true]);
    expect(again.text).toContain('asks for a passkey');
  });

  test('a person who gives up returns to the client with unmet_authentication_requirements', async () => {
    const browser = await signedInBy(BY_PASSWORD);
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    const abort = page.forms.find(({ action }) => action.endsWith('/abort'));
    const answer = sent(await browser.submit(page, {}, abort?.action));
    expect(answer.get('error')).toBe('unmet_authentication_requirements');
  });

  test('prompt=none gives login_required (section 3.1.2.6), since a sign-in page could meet the request', async () => {
    const browser = await signedInBy(BY_PASSWORD);
    const silently = { prompt: 'none', acr_values: PASSKEY };
    const answer = sent(await browser.open(flow.authorize(silently)));
    expect(answer.get('error')).toBe('login_required');
    const stronger = await signedInBy(PASSKEY);
    expect(sent(await stronger.open(flow.authorize(silently))).has('code')).toBe(true);
  });

  test.each(['urn:mace:incommon:iap:silver', 'passkey', `${PASSKEY}x`, '1 2 3', `${PASSKEY},x`])(
    'the unknown value %j makes the request fail (RFC 9470 section 5)',
    async (acr_values) => {
      const browser = await signedInBy(PASSKEY);
      for (const prompt of ['', 'none']) {
        const answer = sent(await browser.open(flow.authorize({ acr_values, prompt })));
        expect(answer.get('error')).toBe('unmet_authentication_requirements');
        expect(answer.get('iss')).toBe(flow.config.issuer);
      }
      const form = { ...pushed(), acr_values };
      const { status, body } = await flow.post('/request', form);
      expect([status, body['error']]).toEqual([400, 'unmet_authentication_requirements']);
    },
  );
});

/** Returns the parameters of a request as a form (RFC 9126 section 2.1). */
const pushed = () => Object.fromEntries(new URL(flow.authorize()).searchParams);

describe('requests that require a passkey, at the pages', () => {
  /** Returns an authenticator with a passkey of alice. */
  async function aliceWithPasskey(): Promise<Authenticator> {
    const authenticator = new Authenticator(flow.config.issuer);
    const browser = await flow.signedIn();
    const page = await browser.open('/account/passkeys');
    const passkey = authenticator.create(optionsIn(page));
    const name = `Phone ${authenticator.id}`.slice(0, 30);
    await browser.submit(page, { do: 'added', passkey, name }, '/account/passkeys');
    return authenticator;
  }

  test('the page that asks for a passkey accepts one, and the code comes from that sign-in without another question', async () => {
    const authenticator = await aliceWithPasskey();
    const browser = await signedInBy(BY_PASSWORD);
    later(60);
    const asked = flow.authorize({ acr_values: PASSKEY, max_age: '300' });
    const page = await browser.open(asked);
    expect(page.text).toContain('asks for a passkey');
    const passkey = authenticator.get(optionsIn(page));
    const answer = sent(await browser.submit(page, { passkey }));
    const { body } = await flow.redeem(answer.get('code') ?? '');
    const event = { acr: PASSKEY, amr: ['hwk', 'user', 'mfa'] };
    expect(decodeJwt(String(body['access_token']))).toMatchObject(event);
    expect(decodeJwt(String(body['id_token']))).toMatchObject(event);
    expect(sent(await browser.open(asked)).has('code')).toBe(true);
  });

  test('the page has no password field, explains this to a browser without passkeys, and leads to the page that makes one', async () => {
    const page = await flow.browser().open(flow.authorize({ acr_values: PASSKEY }));
    expect(page.text).not.toContain('type="password"');
    expect(page.text).toContain('id="passkey-missing"');
    expect(page.text).toContain('href="/account/passkeys"');
    const either = await flow.browser().open(flow.authorize({ acr_values: SECOND_FACTOR }));
    expect(either.text).toContain('type="password"');
    expect(either.text).toContain('data-way="get"');
  });

  test("the request ends at once if the issuer's host is an IP address, since passkeys need a name", async () => {
    await using other = await testFlow({ issuer: 'http://127.0.0.1:3000' });
    const asked = other.authorize({ acr_values: PASSKEY });
    for (const browser of [other.browser(), await other.signedIn()]) {
      const answer = sent(await browser.open(asked));
      expect(answer.get('error')).toBe('unmet_authentication_requirements');
      expect(answer.get('state')).toBe('the state');
    }
  });

  test('an old passkey answer, or one of another page or person, is refused after a password', async () => {
    const authenticator = await aliceWithPasskey();
    const browser = await signedInBy(BY_PASSWORD);
    const asked = flow.authorize({ acr_values: PASSKEY });
    const page = await browser.open(asked);
    const passkey = authenticator.get(optionsIn(page));
    const first = sent(await browser.submit(page, { passkey }));
    expect(first.has('code')).toBe(true);

    const other = await signedInBy(BY_PASSWORD);
    const again = await other.open(asked);
    const replayed = await other.submit(again, { passkey });
    expect([replayed.status, asksToSignIn(replayed)]).toEqual([422, true]);
    const elsewhere = authenticator.get(optionsIn(await flow.browser().open(asked)));
    expect((await other.submit(again, { passkey: elsewhere })).status).toBe(422);
    expect(asksToSignIn(await other.open(asked))).toBe(true);
  });

  test('a new sign-in by password lowers the level again', async () => {
    const authenticator = await aliceWithPasskey();
    const browser = flow.browser();
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    await browser.submit(page, { passkey: authenticator.get(optionsIn(page)) });
    await browser.submit(await browser.open(flow.authorize({ prompt: 'login' })), ALICE);
    expect(asksToSignIn(await browser.open(flow.authorize({ acr_values: PASSKEY })))).toBe(true);
  });

  test('a passkey satisfies a request for a second factor', async () => {
    const authenticator = await aliceWithPasskey();
    const browser = flow.browser();
    const page = await browser.open(flow.authorize({ acr_values: SECOND_FACTOR }));
    const passkey = authenticator.get(optionsIn(page));
    const next = await browser.submit(page, { passkey });
    expect(sent(next).get('error')).toBeNull();
  });
});

describe('a client that does not ask for openid (RFC 9470 section 4)', () => {
  const scope = 'documents:read';

  test('acr_values and max_age apply to its access token', async () => {
    const weak = await signedInBy(BY_PASSWORD);
    const asked = { scope, acr_values: `${SECOND_FACTOR} ${PASSKEY}`, max_age: '300' };
    expect(asksToSignIn(await weak.open(flow.authorize(asked)))).toBe(true);
    const strong = await signedInBy(PASSKEY);
    const answer = sent(await strong.open(flow.authorize(asked)));
    const { body } = await flow.redeem(answer.get('code') ?? '');
    expect(decodeJwt(String(body['access_token']))).toMatchObject({ acr: PASSKEY });
    expect(body).not.toHaveProperty('id_token');
  });

  test('acr_values and max_age apply in a pushed request (RFC 9126)', async () => {
    const { body } = await flow.post('/request', { ...pushed(), scope, acr_values: PASSKEY });
    const uri = encodeURIComponent(String(body['request_uri']));
    const weak = await signedInBy(BY_PASSWORD);
    const path = `/auth?client_id=web&request_uri=${uri}`;
    expect(asksToSignIn(await weak.open(path))).toBe(true);
    const strong = await signedInBy(PASSKEY);
    expect(sent(await strong.open(path)).has('code')).toBe(true);
  });

  test.each(['300', '0'])('max_age=%s asks again after an hour', async (max_age) => {
    const browser = await signedInBy(BY_PASSWORD);
    later(3600);
    const page = await browser.open(flow.authorize({ scope, max_age }));
    expect(asksToSignIn(page)).toBe(true);
    const code = sent(await browser.submit(page, ALICE)).get('code') ?? '';
    const { body } = await flow.redeem(code);
    const { auth_time } = decodeJwt<{ auth_time: number }>(String(body['access_token']));
    expect(auth_time * 1000).toBeGreaterThan(Date.now() - 60_000);
  });

  test('a sign-in in the future is not recent, since a space would send the person back again and again', async () => {
    const inAnHour = (session: Session) => ({ loginTs: session.loginTs + 3600 });
    const browser = await signedInBy(BY_PASSWORD, ['user'], inAnHour);
    expect(sent(await browser.open(flow.authorize({ scope }))).has('code')).toBe(true);
    const asked = { scope, max_age: '300' };
    const silent = sent(await browser.open(flow.authorize({ ...asked, prompt: 'none' })));
    expect(silent.get('error')).toBe('login_required');
    const page = await browser.open(flow.authorize(asked));
    expect(asksToSignIn(page)).toBe(true);
    const code = sent(await browser.submit(page, ALICE)).get('code') ?? '';
    const { body } = await flow.redeem(code);
    const { auth_time } = decodeJwt<{ auth_time: number }>(String(body['access_token']));
    expect(auth_time * 1000).toBeLessThanOrEqual(Date.now());
    expect(sent(await browser.open(flow.authorize(asked))).has('code')).toBe(true);
  });

  test.each(['acr_values', 'max_age'])('%s twice is invalid_request', async (name) => {
    const value = name === 'max_age' ? '1' : PASSKEY;
    const url = `${flow.authorize({ scope, [name]: value })}&${name}=${value}`;
    expect(sent(await flow.browser().open(url)).get('error')).toBe('invalid_request');
  });

  test('other parameters of OpenID Connect are still refused', async () => {
    const answer = sent(await flow.browser().open(flow.authorize({ scope, nonce: 'n' })));
    expect(answer.get('error')).toBe('invalid_request');
  });
});

describe('attacks on acr_values and max_age', () => {
  test('a token for a request with a weaker sign-in than the resource requires has the weaker acr', async () => {
    const browser = await signedInBy(BY_PASSWORD);
    const answer = sent(await browser.open(flow.authorize({ acr_values: BY_PASSWORD })));
    const { body } = await flow.redeem(answer.get('code') ?? '');
    expect(decodeJwt(String(body['access_token']))).toMatchObject({ acr: BY_PASSWORD });
  });

  test('a pushed request keeps its acr_values: those of the query are ignored (RFC 9126 section 4)', async () => {
    const { body } = await flow.post('/request', { ...pushed(), acr_values: PASSKEY });
    const browser = await signedInBy(BY_PASSWORD);
    const query = new URLSearchParams({
      client_id: 'web',
      request_uri: String(body['request_uri']),
      acr_values: BY_PASSWORD,
      max_age: '99999',
    });
    expect(asksToSignIn(await browser.open(`/auth?${query.toString()}`))).toBe(true);
  });

  test('the resume address of an unmet request leads to the sign-in page again, not to a code', async () => {
    const browser = await signedInBy(BY_PASSWORD);
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    const uid = /interaction\/([\w-]+)\//.exec(page.forms[0]?.action ?? '')?.[1];
    const resumed = await browser.request('GET', `/auth/${uid}`);
    expect(resumed.headers.get('location') ?? '').not.toContain('code=');
  });

  test('the answer of another browser is refused, since it has another session', async () => {
    const asking = await signedInBy(BY_PASSWORD);
    const page = await asking.open(flow.authorize({ acr_values: SECOND_FACTOR }));
    const stronger = await signedInBy(PASSKEY);
    const own = (await stronger.open('/account/end')).forms[0]?.fields ?? [];
    const csrf = new Map(own).get('csrf') ?? '';
    for (const taken of [
      await stronger.open(page.url),
      await stronger.submit(page, { ...ALICE, csrf }),
    ]) {
      expect(taken.status).toBe(400);
      expect(taken.headers.get('location')).toBeNull();
    }
  });

  test('ten right passwords at the same time give no code and no session if a stronger sign-in is required', async () => {
    const browser = flow.browser();
    const page = await browser.open(flow.authorize({ acr_values: PASSKEY }));
    const sendings = Array.from({ length: 10 }, () => browser.submit(page, ALICE));
    for (const answer of await Promise.all(sendings)) {
      expect(answer.headers.get('location') ?? '').not.toContain('code=');
    }
    expect((await browser.open('/account')).text).toContain('type="password"');
  });

  test.each(['-1', '1e3', '0x10', '1.5', ' 5', '99999999999999999999', 'soon', '٣'])(
    'max_age=%j is refused',
    async (max_age) => {
      const browser = await signedInBy(BY_PASSWORD);
      const url = new URL(flow.authorize());
      url.searchParams.set('max_age', max_age);
      const page = await browser.open(url.href);
      expect(sent(page).get('error')).toBe('invalid_request');
    },
  );

  test.each(['acr_values', 'max_age'])('%s twice is invalid_request', async (name) => {
    const value = name === 'max_age' ? '1' : PASSKEY;
    const url = `${flow.authorize({ [name]: value })}&${name}=${value}`;
    const browser = await signedInBy(PASSKEY);
    expect(sent(await browser.open(url)).get('error')).toBe('invalid_request');
  });

  test('10,000 values are too long for a query and a form; as many as fit are answered at once', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `v${index}`).join(' ');
    const browser = flow.browser();
    const asked = await browser.request('GET', flow.authorize({ acr_values: many }));
    expect([413, 414, 431]).toContain(asked.status);
    const { status } = await flow.post('/request', { ...pushed(), acr_values: many });
    expect(status).toBe(413);
    const fitting = 'v '.repeat(1000) + PASSKEY;
    expect(asksToSignIn(await browser.open(flow.authorize({ acr_values: fitting })))).toBe(true);
  });
});

describe('tokens say how and when the person signed in (RFC 9068 section 2.2.1)', () => {
  /** Returns tokens of `server`, which may introspect, after an older sign-in with a passkey. */
  async function tokens() {
    const browser = await signedInBy(PASSKEY, ['hwk', 'user']);
    const asServer = { client_id: 'server', scope: 'openid offline_access documents:read' };
    const page = await browser.open(flow.authorize({ ...asServer, prompt: 'consent' }));
    const code = sent(await browser.submit(page, { decision: 'allow' })).get('code') ?? '';
    const form = redemption(code);
    const fields = basic('server', SECRET);
    const { body } = await flow.post('/token', { ...form, client_id: 'server' }, fields);
    return { browser, fields, body };
  }
  const event = ({ acr, amr, auth_time }: Readonly<Record<string, unknown>>) => ({
    acr,
    amr,
    auth_time,
  });

  test('a refresh keeps acr, amr and auth_time, also after a weaker sign-in', async () => {
    const { browser, fields, body } = await tokens();
    const first = event(decodeJwt(String(body['access_token'])));
    expect(first).toEqual({ acr: PASSKEY, amr: ['hwk', 'user'], auth_time: expect.any(Number) });
    expect(event(decodeJwt(String(body['id_token'])))).toEqual(first);

    later(600);
    const page = await browser.open(flow.authorize({ prompt: 'login' }));
    await browser.submit(page, ALICE);
    const refresh = { client_id: 'server' };
    const refreshed = await flow.refresh(String(body['refresh_token']), refresh, fields);
    expect(refreshed.status).toBe(200);
    expect(event(decodeJwt(String(refreshed.body['access_token'])))).toEqual(first);
    expect(event(decodeJwt(String(refreshed.body['id_token'])))).toEqual(first);
  });

  test('a refresh never raises acr, amr or auth_time, even after a stronger sign-in', async () => {
    const { refresh_token } = await flow.tokens({
      scope: 'openid offline_access',
      prompt: 'consent',
    });
    await signedInBy(PASSKEY);
    later(60);
    const asked = { acr_values: PASSKEY, max_age: '1' };
    const { body } = await flow.refresh(String(refresh_token), asked);
    expect(decodeJwt(String(body['access_token']))).toMatchObject({
      acr: BY_PASSWORD,
      amr: ['pwd'],
    });
    const { auth_time } = decodeJwt<{ auth_time: number }>(String(body['id_token']));
    expect(Date.now() / 1000 - auth_time).toBeGreaterThanOrEqual(60);
  });

  test('introspection has acr, amr and auth_time (RFC 9470 section 6.2), but not for a machine', async () => {
    const { fields, body } = await tokens();
    const token = String(body['access_token']);
    const { body: told } = await flow.post('/token/introspection', { token }, fields);
    expect(told).toMatchObject({ active: true, ...event(decodeJwt(token)) });

    const form = { grant_type: 'client_credentials' };
    const machine = String((await flow.post('/token', form, asApp)).body['access_token']);
    const own = await flow.post('/token/introspection', { token: machine }, asApp);
    expect(own.body['active']).toBe(true);
    for (const claim of ['acr', 'amr', 'auth_time']) expect(own.body).not.toHaveProperty(claim);
  });
});
