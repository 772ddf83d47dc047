import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createInvitations } from '#shared/auth/schemes/hoba/invitations.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import type { Changes, TestBrowser } from '../browser.fixture.ts';
import { openDeviceFlow } from '../device/device.fixture.ts';
import type { DeviceFlow } from '../device/device.fixture.ts';

/** Tests keys on the account page, and the links by which browsers get keys (RFC 7486 section 6.2.3). */
const CLEAR = 'http://rs.example';
const TLS = 'https://rs.example';
const space = (url: string, schemes: readonly string[]) => ({ url, realm: url, schemes });

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({
    resource: CLEAR,
    tls: { resource: TLS },
    spaces: [
      space(DOCUMENTS, ['Bearer']),
      space(`${CLEAR}/keys/`, ['HOBA']),
      space('https://elsewhere.example/', ['HOBA']),
    ],
  });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const keys = () => flow.authz.stores.publicKeys;

const add = (id: string, of: 'alice' | 'bob', more: Partial<PublicKeyRecord> = {}) =>
  keys().add(
    {
      id,
      scheme: 'HOBA',
      owner: { kind: 'person', id: flow.people[of].id },
      spki: 'AAAA',
      name: `laptop of ${of}`,
      created_at: flow.clock.now(),
      ...more,
    },
    20,
  );

const end = async (browser: TestBrowser, changes: Changes) =>
  browser.send(await browser.open('/account/end'), { id: '', ...changes }, '/account');

describe('the keys of a person', () => {
  test("the page lists the person's keys with their purpose, and no key of another person", async () => {
    await add('k1', 'alice', { origin: TLS, used_at: flow.clock.now() });
    await add('k2', 'alice', { scheme: 'Concealed', name: '<b>backup' });
    await add('k3', 'bob');
    await add('k4', 'bob', { owner: { kind: 'application', id: flow.people.alice.id } });
    const page = await (await flow.signedIn('alice')).open('/account');
    const ids = page.forms.flatMap(({ fields }) => new Map(fields).get('id') ?? []);
    expect(ids.filter((id) => /^k\d$/.test(id))).toEqual(['k1', 'k2']);
    for (const shown of ['laptop of alice', TLS, '&lt;b&gt;backup', 'Concealed', 'everywhere']) {
      expect(page.text).toContain(shown);
    }
    expect(page.text).not.toContain('laptop of bob');
  });

  test('keys are removed one by one', async () => {
    await add('k1', 'alice');
    await add('k2', 'alice');
    const browser = await flow.signedIn('alice');
    const asked = await browser.open('/account/end?end=key&id=k1');
    expect(asked.text).toContain('Remove this key?');
    expect(asked.text).toContain('laptop of alice');
    const after = await end(browser, { end: 'key', id: 'k1' });
    expect(after.status).toBe(303);
    expect((await browser.follow(after)).text).toContain('The key is removed.');
    await expect(keys().get('k1')).resolves.toBeUndefined();
    await expect(keys().get('k2')).resolves.toBeDefined();
    flow.clock.advance(31);
    expect((await end(browser, { end: 'key', id: 'k1' })).status).toBe(404);
  });

  test('keys of another person are not shown, and cannot be removed', async () => {
    await add('k1', 'alice');
    await add('k2', 'alice', { owner: { kind: 'application', id: flow.people.bob.id } });
    const mallory = await flow.signedIn('bob');
    const missing = await end(mallory, { end: 'key', id: 'nothing' });
    for (const id of ['k1', 'k2', '', '__proto__']) {
      const page = await end(mallory, { end: 'key', id });
      expect([page.status, page.text]).toEqual([404, missing.text]);
    }
    await expect(keys().get('k1')).resolves.toBeDefined();
    await expect(keys().get('k2')).resolves.toBeDefined();
  });

  test('keys stay when the person ends all other access, and the page says so', async () => {
    await add('k1', 'alice');
    const browser = await flow.signedIn('alice');
    expect((await browser.open('/account')).text).toContain('A key works until');
    await end(browser, { end: 'everything' });
    await expect(keys().get('k1')).resolves.toBeDefined();
  });
});

describe('a link by which a browser gets a key', () => {
  const LINK = /<a href="([^"]*\/\.well-known\/hoba\/key#[\w-]*)">/;
  const asked = async (browser: TestBrowser, origin = TLS) =>
    browser.submit(await browser.open('/account'), { origin }, '/account/key');
  const redeem = async (link: string) => {
    const { origin, hash } = new URL(link);
    const invitations = createInvitations({ stores: flow.authz.stores, random: systemRandom });
    return invitations.redeem(hash.slice(1), origin);
  };

  test('a link is offered for each of our origins with TLS and HOBA', async () => {
    const page = await (await flow.signedIn('alice')).open('/account');
    const offered = page.forms.filter(({ action }) => action === '/account/key');
    expect(offered.map(({ fields }) => new Map(fields).get('origin'))).toEqual([TLS]);
  });

  test('a link works for the person, once, at that origin', async () => {
    const page = await asked(await flow.signedIn('alice'));
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [, link = ''] = LINK.exec(page.text) ?? [];
    expect(link).toMatch(new RegExp(`^${TLS}/.well-known/hoba/key#[\\w-]{22}$`));
    await expect(redeem(link)).resolves.toMatchObject({
      person: flow.people.alice.id,
      acr: 'urn:countersign:acr:password',
    });
    await expect(redeem(link)).resolves.toBeUndefined();
  });

  test('a link ends with all access, and with the sign-in in which it was made', async () => {
    for (const ended of ['everything', 'this browser']) {
      const browser = await flow.signedIn('alice');
      const [, link = ''] = LINK.exec((await asked(browser)).text) ?? [];
      if (ended === 'everything') await end(browser, { end: ended });
      else await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
      await expect(redeem(link)).resolves.toBeUndefined();
    }
  });

  test.each([CLEAR, 'https://elsewhere.example', 'https://evil.example', ''])(
    'at %s a link cannot be made: 400',
    async (origin) => {
      const page = await asked(await flow.signedIn('alice'), origin);
      expect(page.status).toBe(400);
      expect(page.text).not.toMatch(LINK);
    },
  );

  test.each([
    ['without a token', {}, {}],
    ['with another token', { csrf: 'x'.repeat(43) }, {}],
    ['from another origin', undefined, { origin: 'https://attacker.example' }],
  ])('a form %s makes no link: 403 (CSRF)', async (_name, csrf, headers) => {
    const browser = await flow.signedIn('alice');
    const { forms } = await browser.open('/account');
    const token = new Map(forms[0]?.fields).get('csrf') ?? '';
    const form = new URLSearchParams({ origin: TLS, ...(csrf ?? { csrf: token }) });
    const page = await browser.request('POST', '/account/key', form, headers);
    expect(page.status).toBe(403);
    expect(page.text).not.toMatch(LINK);
  });

  test('without a sign-in no link is made', async () => {
    const browser = await flow.signedIn('alice');
    const page = await browser.open('/account');
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    const after = await browser.submit(page, { origin: TLS }, '/account/key');
    expect(after.text).toContain('to go to your account');
    expect(after.text).not.toMatch(LINK);
    const led = await browser.open('/account/key');
    expect(new URL(led.url).pathname).toBe('/account');
  });
});
