import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { createAddressLinks } from '#shared/people/address-links.ts';
import { claimsOf } from '#shared/people/claims.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import type { Profile } from '#shared/stores/people/people.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';

const PATH = '/account/address';
const mail = { host: 'mail.invalid', from: 'accounts@example.com' };
const OLD = 'alice@old.example';
const NEW = 'alice@new.example';
const one = (address: string, verified: boolean) => ({ address, verified });

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ mail });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const set = (name: string, ...emails: NonNullable<Profile['emails']>) =>
  setProfile(flow.authz, name, (profile) => ({ ...profile, emails }));
const emailsOf = async (name: string) =>
  (await flow.authz.stores.people.getByName(name))?.profile?.emails;

/** Makes a new link for alice. */
async function link(address: string): Promise<string> {
  const links = createAddressLinks({ stores: flow.authz.stores, random: systemRandom });
  return `${PATH}/${await links.make(flow.people.alice.id, address, await emailsOf('alice'))}`;
}

/** Requests a link to an address. */
const ask = async (browser: TestBrowser, changes: Changes): Promise<Page> =>
  browser.submit(await browser.open(PATH), changes, PATH);

/** Opens a link, and confirms it. */
const use = async (browser: TestBrowser, path: string): Promise<Page> =>
  browser.submit(await browser.open(path), {}, path);

/** Returns the waiting messages about addresses, including those that were read before. */
async function waiting() {
  const now = flow.clock.now();
  const all = await flow.authz.stores.outbox.take(now + 1, now + 1, 100);
  return all
    .filter(({ kind }) => kind.startsWith('address-'))
    .map(({ kind, accountId, to }) => [kind, accountId, to]);
}

const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');

describe('the page for addresses', () => {
  test('the account page links to the page, which does not exist without mail', async () => {
    const browser = await flow.signedIn('alice');
    expect((await browser.open('/account')).text).toContain(`<a href="${PATH}">`);
    await using without = await openDeviceFlow();
    const other = await without.signedIn('alice');
    expect((await other.open('/account')).text).not.toContain(PATH);
    for (const path of [PATH, `${PATH}/AAAAAAAAAAAAAAAAAAAAAA`]) {
      expect((await other.open(path)).status).toBe(404);
    }
  });

  test('a new address waits for its link, and is not in the profile before', async () => {
    await set('alice', one(OLD, true));
    const browser = await flow.signedIn('alice');
    const page = await ask(browser, { address: ` ${NEW} ` });
    expect(page.text).toContain('A message with a link is on its way');
    expect(await waiting()).toEqual([['address-confirmation', flow.people.alice.id, NEW]]);
    expect(await emailsOf('alice')).toEqual([one(OLD, true)]);
  });

  test('an address that an operator entered is confirmed with a button beside it', async () => {
    await set('alice', one(OLD, true), one(NEW, false));
    const browser = await flow.signedIn('alice');
    const page = await browser.open(PATH);
    expect(page.forms.map(({ fields }) => Object.fromEntries(fields)['address'])).toEqual([
      NEW,
      '',
    ]);
    await browser.submit(page, {}, PATH);
    expect(await waiting()).toEqual([['address-confirmation', flow.people.alice.id, NEW]]);
  });

  test('the page asks for a sign-in, and for another one after five minutes', async () => {
    const browser = await flow.signedIn('alice');
    const page = await browser.open(PATH);
    flow.clock.advance(301);
    expect(asksToSignIn(await browser.open(PATH))).toBe(true);
    const late = await browser.submit(page, { address: NEW }, PATH);
    expect([asksToSignIn(late), late.text.includes('Sign in once more')]).toEqual([true, true]);
    expect(asksToSignIn(await flow.browser().open(PATH))).toBe(true);
    expect(await waiting()).toEqual([]);
  });

  test.each<[string, Changes, number]>([
    ['no address', { address: 'alice' }, 422],
    ['nothing', { address: undefined }, 422],
    ['header injection', { address: `${NEW}\r\nBcc: x@attacker.example` }, 422],
    ['a list', { address: `${NEW},x@attacker.example` }, 422],
    ['markup', { address: '"><script>@example.com' }, 422],
    ['a confirmed address', { address: OLD.toUpperCase() }, 422],
    ['two addresses', { address: [NEW, OLD] }, 400],
    ['a form of more than 16 KiB', { address: 'x'.repeat(17_000) }, 413],
    ['the token of another browser (CSRF)', { address: NEW, csrf: 'x'.repeat(65) }, 403],
  ])('with %s the form is refused, and no message waits', async (_, changes, status) => {
    await set('alice', one(OLD, true));
    const page = await ask(await flow.signedIn('alice'), changes);
    expect(page.status).toBe(status);
    expect(page.text).not.toContain('<script>@');
    expect(await waiting()).toEqual([]);
  });

  test('an address gets at most three messages, whoever asks, and a person can request ten', async () => {
    const alice = await flow.signedIn('alice');
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await ask(alice, { address: NEW })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const bob = await flow.signedIn('bob');
    expect((await ask(bob, { address: NEW })).status).toBe(429);
    for (let n = 0; n < 9; n += 1) await ask(bob, { address: `bob${n}@example.com` });
    expect((await ask(bob, { address: 'bob@example.com' })).status).toBe(429);
    expect(await waiting()).toHaveLength(10);
  });
});

describe('a link that confirms an address', () => {
  test('a link makes a new address the first and a verified one, and the old address gets a message', async () => {
    await set('alice', one(OLD, true), one('second@example.com', false));
    const browser = await flow.signedIn('alice');
    const path = await link(NEW);
    const page = await browser.open(path);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.text).toContain(NEW);
    expect(page.text).toContain(OLD);
    const done = await browser.submit(page, {}, path);
    expect(done.text).toContain('Your address is confirmed');
    expect(await emailsOf('alice')).toEqual([one(NEW, true), one('second@example.com', false)]);
    expect(await waiting()).toEqual([['address-changed', flow.people.alice.id, OLD]]);
  });

  test('a link makes the first address of a person who has none', async () => {
    await use(await flow.signedIn('alice'), await link(NEW));
    expect(await emailsOf('alice')).toEqual([one(NEW, true)]);
    expect(await waiting()).toEqual([]);
  });

  test('a link verifies an existing address of the person in its place', async () => {
    await set('alice', one(OLD, true), one(NEW, false));
    await use(await flow.signedIn('alice'), await link(NEW.toUpperCase()));
    expect(await emailsOf('alice')).toEqual([one(OLD, true), one(NEW, true)]);
  });

  test('email_verified is true after the link (OpenID Connect Core 1.0 section 5.1)', async () => {
    await set('alice', one(OLD, false));
    const told = async () => {
      const person = await flow.authz.stores.people.get(flow.people.alice.id);
      return person && claimsOf(person, new Set(['email']));
    };
    expect(await told()).toEqual({ email: OLD, email_verified: false });
    await use(await flow.signedIn('alice'), await link(OLD));
    expect(await told()).toEqual({ email: OLD, email_verified: true });
    await ask(await flow.signedIn('alice'), { address: NEW });
    expect(await told()).toEqual({ email: OLD, email_verified: true });
    await use(await flow.signedIn('alice'), await link(NEW));
    expect(await told()).toEqual({ email: NEW, email_verified: true });
  });

  test('without a sign-in a link leads through the sign-in', async () => {
    const path = await link(NEW);
    const browser = flow.browser();
    const page = await browser.open(path);
    expect(asksToSignIn(page)).toBe(true);
    const after = await browser.submit(page, { name: 'alice', password: PASSWORD }, '/sign-in');
    expect(after.url).toContain(path);
    await browser.submit(after, {}, path);
    expect(await emailsOf('alice')).toEqual([one(NEW, true)]);
  });

  test('a link works once', async () => {
    const browser = await flow.signedIn('alice');
    const path = await link(NEW);
    await use(browser, path);
    expect((await browser.open(path)).status).toBe(404);
  });

  test('if a link is used ten times at the same time, one use confirms, and the old address gets one message', async () => {
    await set('alice', one(OLD, true));
    const browser = await flow.signedIn('alice');
    const path = await link(NEW);
    const page = await browser.open(path);
    const pages = await Promise.all(Array.from({ length: 10 }, () => browser.send(page, {}, path)));
    expect(pages.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await waiting()).toHaveLength(1);
  });
});

describe('a program that opens every link of a mail does not confirm the address', () => {
  test.each([
    ['GET', undefined, {}, 200],
    ['HEAD', undefined, {}, 200],
    ['POST', new URLSearchParams(), {}, 403],
    ['POST', '{}', { 'content-type': 'application/json' }, 415],
    ['DELETE', undefined, {}, 501],
  ])(
    'a %s request to the link, with the content %s, confirms nothing',
    async (method, form, fields, status) => {
      const path = await link(NEW);
      for (let time = 0; time < 3; time += 1) {
        expect((await flow.browser().request(method, path, form, fields)).status).toBe(status);
      }
      expect(await emailsOf('alice')).toBeUndefined();
      await use(await flow.signedIn('alice'), path);
      expect(await emailsOf('alice')).toEqual([one(NEW, true)]);
    },
  );

  test('a program that presses the buttons confirms nothing, whoever is signed in', async () => {
    const path = await link(NEW);
    const scanner = flow.browser();
    const page = await scanner.open(path);
    await scanner.submit(page, {}, '/sign-in');
    const bob = await flow.signedIn('bob');
    const token = (await bob.open('/account/end')).forms[0];
    const form = new URLSearchParams([...(token?.fields ?? [])].map(([n, v]) => [n, v]));
    expect((await bob.open(path)).status).toBe(404);
    expect((await bob.request('POST', path, form)).status).toBe(404);
    expect([await emailsOf('alice'), await emailsOf('bob')]).toEqual([undefined, undefined]);
    await use(await flow.signedIn('alice'), path);
    expect(await emailsOf('alice')).toEqual([one(NEW, true)]);
  });
});

describe('refused links and forms, which change nothing', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['after 24 hours', async () => flow.clock.advance(86_400)],
    ['after another link was made', () => link('third@example.com')],
    ['after an operator changed the address', () => set('alice', one('op@example.com', true))],
    ['of an address that is somebody else’s by now', () => set('bob', one(NEW, true))],
  ])('a link %s is refused', async (_, meanwhile) => {
    await set('alice', one(OLD, true));
    const path = await link(NEW);
    await meanwhile();
    const before = await emailsOf('alice');
    const page = await (await flow.signedIn('alice')).open(path);
    expect(page.status).toBe(404);
    const browser = await flow.signedIn('alice');
    const { forms } = await browser.open('/account/end');
    const form = new URLSearchParams([...(forms[0]?.fields ?? [])].map(([n, v]) => [n, v]));
    expect((await browser.request('POST', path, form)).status).toBe(404);
    expect(await emailsOf('alice')).toEqual(before);
    expect(await waiting()).toEqual([]);
  });

  test("another person's unverified claim does not prevent a person from confirming the address", async () => {
    await set('bob', one(NEW, false));
    await use(await flow.signedIn('alice'), await link(NEW));
    expect(await emailsOf('alice')).toEqual([one(NEW, true)]);
    expect(await emailsOf('bob')).toEqual([one(NEW, false)]);
  });

  test('a form from another site is refused (CSRF)', async () => {
    const browser = await flow.signedIn('alice');
    const path = await link(NEW);
    const { forms } = await browser.open(path);
    const form = new URLSearchParams([...(forms[0]?.fields ?? [])].map(([n, v]) => [n, v]));
    const attack = { origin: 'https://attacker.example' };
    expect((await browser.request('POST', path, form, attack)).status).toBe(403);
    expect(await emailsOf('alice')).toBeUndefined();
  });
});
