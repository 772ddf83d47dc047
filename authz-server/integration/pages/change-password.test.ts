import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { lackingVerifiers } from '#shared/people/derive-verifiers.ts';
import { disablePerson, setPassword } from '#shared/people/people.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { ALL, openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';

const PATH = '/account/password';
const NEW = 'another horse, another battery';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ limits: { account: { burst: 5, per: 60 } } });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const people = () => ({
  ...flow.store,
  stores: flow.authz.stores,
  random: systemRandom,
  passwords: createPasswords(argon2Once),
  realms: [],
});
const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');
const locationOf = ({ status, headers }: Page) => [status, headers.get('location')];
const signInsOf = (name: 'alice' | 'bob') => listSignIns(flow.store, flow.people[name].id);

/** Sends the form of the page as a person fills it in, with these changes. */
async function change(browser: TestBrowser, changes: Changes = {}): Promise<Page> {
  return browser.send(
    await browser.open(PATH),
    { current: PASSWORD, password: NEW, ...changes },
    PATH,
  );
}

/** Returns whether alice can sign in with a password in a new browser. */
async function enters(password: string): Promise<boolean> {
  const browser = flow.browser();
  const page = await browser.submit(await browser.open('/account'), { name: 'alice', password });
  return page.status === 200;
}

/** Removes alice's password, as if she had only passkeys. */
async function withoutPassword(): Promise<void> {
  const { people: kept } = flow.authz.stores;
  const { password_hash: _, ...now } = (await kept.get(flow.people.alice.id)) ?? flow.people.alice;
  await kept.replace({ ...now, version: now.version + 1 });
}

describe('the page to change the password', () => {
  test('without a sign-in the page asks for one first, and leads back', async () => {
    const browser = flow.browser();
    const asked = await browser.open(PATH);
    expect(asksToSignIn(asked)).toBe(true);
    const page = await browser.submit(asked, { name: 'alice', password: PASSWORD });
    expect([page.status, new URL(page.url).pathname]).toEqual([200, PATH]);
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test('W3C, A Well-Known URL for Changing Passwords section 3: the page is found by its well-known address', async () => {
    const browser = flow.browser();
    const found = await browser.request('GET', '/.well-known/change-password');
    expect(locationOf(found)).toEqual([303, PATH]);
    // Section 4: with this address password managers check whether status codes are reliable.
    const reliable =
      '/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200';
    expect((await browser.request('GET', reliable)).status).toBe(404);
  });

  test('the account page links to the page', async () => {
    const { text } = await (await flow.signedIn('alice')).open('/account');
    expect(text).toContain(`href="${PATH}"`);
  });
});

describe('a change of the password', () => {
  test('a change to the same password is refused', async () => {
    const browser = await flow.signedIn('alice');
    const page = await change(browser, { password: PASSWORD });
    expect(page.status).toBe(422);
    expect(page.text).toContain('This is the password that you have already.');
  });

  test('the new password works, the old one does not, and this browser stays signed in', async () => {
    const browser = await flow.signedIn('alice');
    const done = await change(browser);
    expect(locationOf(done)).toEqual([303, expect.stringMatching(/^\/account\?done=others\./)]);
    expect([await enters(PASSWORD), await enters(NEW)]).toEqual([false, true]);
    const account = await browser.follow(done);
    expect(account.text).toContain('Your password is changed.');
  });

  test('other browsers and the access of applications end', async () => {
    const browser = await flow.signedIn('alice');
    const other = await flow.signedIn('alice');
    const bob = await flow.signedIn('bob');
    const token = (await flow.useWeb(other, ALL.scope)).body['access_token'];
    await change(browser);
    expect(asksToSignIn(await other.open('/account'))).toBe(true);
    expect(await flow.userinfo(token)).toBe(401);
    expect(await signInsOf('alice')).toHaveLength(1);
    expect(asksToSignIn(await bob.open('/account'))).toBe(false);
  });

  test('if the box is not ticked, no other access ends', async () => {
    const browser = await flow.signedIn('alice');
    const other = await flow.signedIn('alice');
    const token = (await flow.useWeb(other, ALL.scope)).body['access_token'];
    const done = await change(browser, { others: undefined });
    expect(locationOf(done)).toEqual([303, expect.stringMatching(/^\/account\?done=password\./)]);
    expect(asksToSignIn(await other.open('/account'))).toBe(false);
    expect(await flow.userinfo(token)).toBe(200);
    expect([await enters(PASSWORD), await enters(NEW)]).toEqual([false, true]);
  });

  test('the browser gets a new session, and a copy of the old cookie does not work', async () => {
    const browser = await flow.signedIn('alice');
    const thief = flow.browser();
    thief.plant(browser);
    expect(asksToSignIn(await thief.open('/account'))).toBe(false);
    await change(browser);
    expect(asksToSignIn(await thief.open('/account'))).toBe(true);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test('Digest, SCRAM and Mutual get their data from the new password', async () => {
    await flow[Symbol.asyncDispose]();
    const schemes = ['Digest', 'SCRAM-SHA-256', 'Mutual'];
    flow = await openDeviceFlow({
      spaces: [{ url: 'http://localhost:3001/', realm: 'a', schemes }],
    });
    const { config, stores } = flow.authz;
    const lacks = async () => {
      const whole = await stores.people.getWhole(flow.people.alice.id);
      return lackingVerifiers(whole?.verifiers ?? [], neededVerifiers(config)).flatMap(
        ({ kinds }) => kinds,
      );
    };
    expect(await lacks()).toHaveLength(3);
    await change(await flow.signedIn('alice'));
    expect(await lacks()).toEqual([]);
  });

  test('a change is no new sign-in: the time and kind of the sign-in stay', async () => {
    const browser = await flow.signedIn('alice');
    const [before] = await signInsOf('alice');
    flow.clock.advance(600);
    await change(browser);
    const [after] = await signInsOf('alice');
    const kept = { since: before?.since, assurance: before?.assurance, agent: before?.agent };
    expect(after).toMatchObject({ ...kept, generation: 1 });
    expect(after?.uid).not.toBe(before?.uid);
    const { body } = await flow.useWeb(browser, `openid ${ALL.scope}`);
    expect(decodeJwt(String(body['access_token']))['auth_time']).toBe(
      Math.floor((before?.since ?? 0) / 1000),
    );
  });
});

describe('refused changes of the password, which change nothing', () => {
  afterEach(async () => {
    expect([await enters(PASSWORD), await enters(NEW)]).toEqual([true, false]);
  });

  test.each<[string, Changes, string]>([
    ['a wrong old password', { current: 'wrong' }, 'The old password is wrong.'],
    ['no old password', { current: undefined }, 'The old password is wrong.'],
    ['a short one', { password: '1234567' }, 'too short'],
    ['none', { password: undefined }, 'too short'],
    ['one of more than 1,024 octets', { password: 'x'.repeat(1025) }, 'too long'],
    ['one with a control character', { password: `${NEW}\u0007` }, 'control character'],
    ['a common one', { password: 'Football' }, 'most common'],
  ])('a form with %s is refused', async (_, changes, sentence) => {
    const browser = await flow.signedIn('alice');
    const page = await change(browser, { others: undefined, ...changes });
    expect([page.status, page.text.includes(sentence)]).toEqual([422, true]);
    // The box stays as the person left it, and the page contains no password.
    const sent = page.forms.find(({ action }) => action === PATH)?.fields ?? [];
    expect(new Map(sent).has('others')).toBe(false);
    expect(page.text).not.toContain(PASSWORD);
    expect(await signInsOf('alice')).toHaveLength(1);
  });

  test.each<[string, Changes, number]>([
    ['two new passwords', { password: [NEW, 'something else entirely'] }, 400],
    ['two old ones', { current: [PASSWORD, 'wrong'] }, 400],
    ['a form of more than 16 KiB', { password: 'x'.repeat(17_000) }, 413],
    ['a form of another browser (CSRF)', { csrf: 'x'.repeat(65) }, 403],
  ])('a malformed form is refused: %s', async (_, changes, status) => {
    expect((await change(await flow.signedIn('alice'), changes)).status).toBe(status);
  });

  test('a link with the fields in its query is refused', async () => {
    const browser = await flow.signedIn('alice');
    const query = new URLSearchParams({ current: PASSWORD, password: NEW }).toString();
    expect((await browser.open(`${PATH}?${query}`)).status).toBe(200);
  });

  test('the form of a browser that was signed out meanwhile is refused', async () => {
    const browser = await flow.signedIn('alice');
    const page = await browser.open(PATH);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    const asked = await browser.submit(page, { current: PASSWORD, password: NEW }, PATH);
    expect(asksToSignIn(asked)).toBe(true);
  });
});

test('guesses of the old password are limited as at the sign-in page', async () => {
  const browser = await flow.signedIn('alice');
  for (let guess = 0; guess < 5; guess += 1) {
    expect((await change(browser, { current: `guess ${guess}` })).status).toBe(422);
  }
  const refused = await change(browser);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  flow.clock.advance(60);
  expect((await change(browser)).status).toBe(303);
});

test('if ten changes with the right old password come at the same time, one succeeds', async () => {
  await flow[Symbol.asyncDispose]();
  flow = await openDeviceFlow({ limits: { account: { burst: 100, per: 1 } } });
  const browser = await flow.signedIn('alice');
  const page = await browser.open(PATH);
  const pages = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      browser.send(page, { current: PASSWORD, password: `${NEW} ${index}` }, PATH),
    ),
  );
  const entered: boolean[] = [];
  for (const index of pages.keys()) entered.push(await enters(`${NEW} ${index}`));
  expect(pages.map(({ status }) => status === 303)).toEqual(entered);
  expect(entered.filter(Boolean)).toHaveLength(1);
});

describe('a person without a password', () => {
  test('a person sets a first password without an old one within five minutes of the sign-in', async () => {
    const browser = await flow.signedIn('alice');
    await withoutPassword();
    flow.clock.advance(300);
    const page = await browser.open(PATH);
    expect(page.text).toContain('Set a password');
    expect(page.text).not.toContain('name="current"');
    expect((await change(browser, { current: undefined })).status).toBe(303);
    expect(await enters(NEW)).toBe(true);
  });

  test('later the person must sign in again first, also in order to send the form', async () => {
    const browser = await flow.signedIn('alice');
    await withoutPassword();
    const page = await browser.open(PATH);
    flow.clock.advance(301);
    const fields = { password: NEW };
    for (const asked of [await browser.open(PATH), await browser.submit(page, fields, PATH)]) {
      expect(asksToSignIn(asked)).toBe(true);
      expect(asked.text).toContain('Sign in once more');
    }
    expect(await enters(NEW)).toBe(false);
  });

  test('if two forms come at the same time, the second does not replace the first password without knowing it', async () => {
    const browser = await flow.signedIn('alice');
    await withoutPassword();
    const page = await browser.open(PATH);
    const pages = await Promise.all(
      [1, 2, 3].map((n) => browser.send(page, { password: `${NEW} ${n}` }, PATH)),
    );
    expect(pages.filter(({ status }) => status === 303)).toHaveLength(1);
  });
});

test.each([
  ['disabled', () => disablePerson(people(), 'alice')],
  ['given another password by an operator', () => setPassword(people(), 'alice', 'operator’s own')],
])('a person who was %s meanwhile changes nothing', async (_, meanwhile) => {
  const browser = await flow.signedIn('alice');
  const page = await browser.open(PATH);
  await meanwhile();
  const asked = await browser.submit(page, { current: PASSWORD, password: NEW }, PATH);
  expect(asksToSignIn(asked)).toBe(true);
  expect(await enters(NEW)).toBe(false);
});
