import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { endEverything } from '#shared/people/access/everything.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson, disablePerson, setPassword } from '#shared/people/people.ts';
import { systemRandom } from '#shared/base/random.ts';
import { PASSWORD, sent, testFlow } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';

let flow: TestFlow;
beforeAll(async () => {
  flow = await testFlow();
  await addPerson(people(), { name: 'bob', password: PASSWORD });
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const access = () => ({ stores: flow.stores, clock: systemClock, longestLife: 605 });
const people = () => ({
  ...access(),
  random: systemRandom,
  passwords: createPasswords(),
  realms: [],
});

async function latest(accountId = flow.accountId): Promise<SignIn> {
  const [first] = await listSignIns(access(), accountId);
  if (first === undefined) throw new Error('nobody is signed in');
  return first;
}

/** Returns the uids of alice's sign-ins. */
const uids = async () => (await listSignIns(access(), flow.accountId)).map(({ uid }) => uid);
const sessionOf = ({ uid }: SignIn) => flow.stores.artefacts.getByUid('Session', uid);
const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action.endsWith('/login'));

async function signIn(browser: TestBrowser, page: Page, name: string): Promise<Page> {
  const form = page.forms.find(({ action }) => action.endsWith('/login'));
  return browser.submit(page, { name, password: PASSWORD }, form?.action);
}

describe('a session is signed in only while its sign-in exists', () => {
  test('the sign-in is written when the engine takes over a login, with its origin', async () => {
    const browser = flow.browser();
    await signIn(browser, await browser.open(flow.authorize()), 'alice');
    const written = await latest();
    expect(written).toMatchObject({
      accountId: flow.accountId,
      generation: 0,
      since: expect.any(Number),
      address: '127.0.0.1',
      agent: 'Test Browser',
    });
    expect(await sessionOf(written)).toMatchObject({ accountId: flow.accountId });
  });

  test('the sign-in has the time of the password, however late the engine takes it over', async () => {
    const clock = new ManualClock(Date.now());
    await using timed = await testFlow({}, clock);
    const browser = timed.browser();
    const page = await browser.open(timed.authorize());
    const since = clock.now();
    const resume = await browser.send(page, { name: 'alice', password: PASSWORD });
    clock.advance(3000);
    await browser.follow(resume);
    const signIns = await listSignIns({ ...access(), stores: timed.stores }, timed.accountId);
    expect(signIns).toMatchObject([{ since }]);
  });

  test('after the end of its sign-in the browser is signed out, whatever the engine writes', async () => {
    const browser = await flow.signedIn();
    await flow.allow(browser);
    const signedIn = await latest();
    const session = await sessionOf(signedIn);
    await endSignIn(access(), signedIn);
    // A concurrent request would still write this session.
    const late = { kind: 'Session', id: String(session?.['jti']), payload: { ...session } };
    await flow.stores.artefacts.put({ ...late, seconds: 600 });
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(true);
    expect(sent(await browser.open(flow.authorize({ prompt: 'none' }))).get('error')).toBe(
      'login_required',
    );
  });

  test('a request that is held open during a password change does not restore the session at the next sign-in', async () => {
    await addPerson(people(), { name: 'dora', password: PASSWORD });
    const browser = flow.browser();
    await signIn(browser, await browser.open(flow.authorize()), 'dora');
    const thief = flow.browser();
    thief.plant(browser, /^countersign-session/);
    const cookie = thief.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const type = 'application/x-www-form-urlencoded';
    // The engine reads the session before the content, and writes it at the end of the request.
    const held = request(`${flow.url}/session/end/confirm`, {
      method: 'POST',
      headers: { cookie, 'content-type': type, 'content-length': 6, expect: '100-continue' },
    });
    held.flushHeaders();
    await once(held, 'continue');

    await setPassword(people(), 'dora', 'another password');
    const form = await browser.open(flow.authorize());
    const { action } = form.forms[0] ?? {};
    await browser.submit(form, { name: 'dora', password: 'another password' }, action);
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(false);

    const answered = once(held, 'close');
    held.on('response', (response) => response.resume());
    held.end('xsrf=x');
    await answered;
    expect(asksToSignIn(await thief.open(flow.authorize()))).toBe(true);
  });

  test('an earlier consent does not sign the person in again', async () => {
    const browser = flow.browser();
    const asked = await browser.open(flow.authorize({ prompt: 'consent' }));
    const consent = await signIn(browser, asked, 'alice');
    const signedIn = await latest();
    const resume = await browser.send(consent, { decision: 'allow' });
    await endSignIn(access(), signedIn);
    const page = await browser.follow(resume);
    const code = page.headers.get('location') === null ? null : sent(page).get('code');
    if (code !== null) expect((await flow.redeem(code)).status).toBe(400);
    expect(await uids()).not.toContain(signedIn.uid);
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(true);
  });

  test('a login is refused if all access of the person ended before the engine took it over', async () => {
    const browser = flow.browser();
    const page = await browser.open(flow.authorize());
    const form = page.forms.find(({ action }) => action.endsWith('/login'));
    const resume = await browser.send(page, { name: 'alice', password: PASSWORD }, form?.action);
    await endEverything(access(), flow.accountId);
    await browser.follow(resume);
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(true);
  });

  test('a session of a person whom the directory no longer has is signed out', async () => {
    const carol = await addPerson(people(), { name: 'carol', password: PASSWORD });
    const browser = flow.browser();
    await signIn(browser, await browser.open(flow.authorize()), 'carol');
    await flow.stores.people.replace({ ...carol, disabled: true, version: 1 });
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(true);
    await disablePerson(people(), 'carol');
  });
});

test('a session ends a fixed time after the sign-in, however often it is used', async () => {
  const clock = new ManualClock(Date.now());
  await using timed = await testFlow({ people: { session: 1000 } }, clock);
  const browser = await timed.signedIn();
  clock.advance(900);
  await timed.allow(browser);
  expect(asksToSignIn(await browser.open(timed.authorize()))).toBe(false);
  clock.advance(101);
  expect(asksToSignIn(await browser.open(timed.authorize()))).toBe(true);
});

describe('signing out through the engine', () => {
  test('OpenID Connect RP-Initiated Logout 1.0: the sign-in and its grants are gone', async () => {
    const browser = await flow.signedIn();
    const code = (await flow.allow(browser)).get('code') ?? '';
    const { body } = await flow.redeem(code);
    const signedIn = await latest();
    const page = await browser.open('/session/end');
    await browser.submit(page, { logout: 'yes' }, '/session/end/confirm');
    expect(await uids()).not.toContain(signedIn.uid);
    const { grant_id } = decodeJwt(String(body['access_token']));
    expect(await findAccess(access(), String(grant_id))).toBeUndefined();
    expect((await flow.refresh(String(body['refresh_token']))).status).toBe(400);
  });

  test('a person who declines to sign out is still signed in', async () => {
    const browser = await flow.signedIn();
    const signedIn = await latest();
    const page = await browser.open('/session/end');
    await browser.submit(page, {}, '/session/end/confirm');
    expect((await latest()).uid).toBe(signedIn.uid);
    expect(asksToSignIn(await browser.open(flow.authorize()))).toBe(false);
  });

  test('if another person signs in with the same browser, the first is signed out, and the second gets the code', async () => {
    const browser = await flow.signedIn();
    const before = await flow.redeem((await flow.allow(browser)).get('code') ?? '');
    const first = await latest();
    const page = await browser.open(flow.authorize({ prompt: 'login' }));
    const consent = await signIn(browser, page, 'bob');
    const code = sent(await browser.submit(consent, { decision: 'allow' })).get('code') ?? '';
    const { body } = await flow.redeem(code);
    const { sub = '' } = decodeJwt(String(body['access_token']));
    expect(sub).not.toBe(flow.accountId);
    expect((await latest(sub)).accountId).toBe(sub);
    expect(await uids()).not.toContain(first.uid);
    expect((await flow.refresh(String(before.body['refresh_token']))).status).toBe(400);
  });
});

describe('cookies of sessions (RFC 6265bis section 4.1.3)', () => {
  test('over https each cookie has a prefix, and no script can read it', async () => {
    await using secure = await testFlow({
      issuer: 'https://auth.example',
      resource: 'https://api.example',
    });
    const browser = await secure.signedIn();
    await browser.open(secure.authorize({ prompt: 'consent' }));
    const lines = Object.fromEntries(browser.cookies.map(({ name, line }) => [name, line]));
    const names = Object.keys(lines);
    expect(names).toEqual(
      expect.arrayContaining([
        '__Host-session',
        '__Host-session.sig',
        '__Secure-interaction',
        '__Secure-resume',
      ]),
    );
    for (const [name, line] of Object.entries(lines)) {
      expect(line).toMatch(/; secure/i);
      expect(line).toMatch(/; httponly/i);
      expect(line).toMatch(/; samesite=lax/i);
      expect(line).not.toMatch(/; domain/i);
      if (name.startsWith('__Host-')) expect(line).toMatch(/; path=\/(?:;|$)/i);
      else expect(line).toMatch(/; path=\/(?:interaction|auth)\/[\w-]+/i);
    }
  });

  test('a changed cookie is not accepted, since cookies are signed', async () => {
    const browser = await flow.signedIn();
    const { uid } = await latest();
    const session = await flow.stores.artefacts.getByUid('Session', uid);
    const page = await flow
      .browser()
      .request('GET', flow.authorize({ prompt: 'none' }), undefined, {
        cookie: `countersign-session=${String(session?.['jti'])}`,
      });
    expect(sent(page).get('error')).toBe('login_required');
    expect(sent(await browser.open(flow.authorize({ prompt: 'none' }))).get('error')).not.toBe(
      'login_required',
    );
  });
});
