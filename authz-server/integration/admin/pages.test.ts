import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { fromTexts, type Texts } from '#shared/operations/texts.ts';
import { disableUser } from '#shared/operations/people/user-disable.ts';
import { endUser } from '#shared/operations/people/user-end.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { disablePerson } from '#shared/people/people.ts';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import { someApiKey, someClient, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { houseOf } from '../../base/house.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { ALICE, BOB } from '../pages/at-consent.fixture.ts';
import { withSecondFactor } from '../second-factor.fixture.ts';
import { testSite, type TestSite, WEB } from '../site.fixture.ts';
import { Refused } from '#shared/refusals/operations.ts';

let site: TestSite;
let clock: ManualClock;

async function start(development: boolean): Promise<void> {
  clock = new ManualClock(Date.now());
  const often = { burst: 100_000, per: 1 };
  site = await testSite({ limits: { address: often, signIn: often } }, clock, development);
}
afterEach(async () => site[Symbol.asyncDispose]());

const setAdmin = (name: string, admin = true) =>
  perform(setUser, { name, admin }, houseOf(site.server));

async function signedIn(who: typeof ALICE, code?: string): Promise<TestBrowser> {
  const browser = site.browser();
  const page = await browser.submit(await browser.open('/account'), who);
  if (code !== undefined) await browser.submit(page, { code });
  return browser;
}

/** Returns the status, fields and text of an answer, without the parts that differ each time. */
const told = ({ status, headers, text }: Page) => {
  const fields = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return [status, fields, text.replaceAll(/<code>[\w-]+<\/code>/g, '')];
};

const slug = (name: string) => name.replaceAll(' ', '-');
const PATHS = ['', ...OPERATIONS.map(({ name }) => `/${slug(name)}`), '/nothing', '/constructor'];
const secretOf = ({ text }: Page) =>
  /<dt>Secret<\/dt>\s*<dd><div class="copyable">\s*<code>([^<]+)</.exec(text)?.[1];

describe("the administrator's pages in development", () => {
  let browser: TestBrowser;
  beforeEach(async () => {
    await start(true);
    await setAdmin('alice');
    browser = await signedIn(ALICE);
  });

  test('an administrator can follow links from the account page to every operation', async () => {
    const account = await browser.open('/account');
    expect(account.text).toContain('<a href="/admin">');
    const home = await browser.open('/admin');
    expect([home.status, home.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const { name } of OPERATIONS) {
      const page = await browser.open(`/admin/${slug(name)}`);
      // This server issues no PrivateTokens.
      const status = name === 'private-token keys' ? 409 : 200;
      expect([name, page.status]).toEqual([name, status]);
    }
  });

  test('the first page leads to lists and to forms that add something, and those lead to the rest', async () => {
    const led = async (path: string) => {
      const { text } = await browser.open(path);
      return [...text.matchAll(/href="\/admin\/([\w-]+)/g)].map(([, name]) => name);
    };
    await site.server.stores.apiKeys.add(someApiKey('led'));
    await site.server.stores.clients.add(someClient('led'));
    const { id = '' } = (await site.server.stores.people.getByName('bob')) ?? {};
    await site.server.stores.secondFactors.add(someSecondFactor(id));
    const home = await led('/admin');
    expect(home).toEqual(expect.arrayContaining(['user-list', 'user-invite', 'client-add']));
    for (const name of ['user-remove', 'user-set', 'client-secret', 'key-rotate']) {
      expect(home).not.toContain(name);
    }
    const bob = await led('/admin/user-show?name=bob');
    await perform(disableUser, { name: 'bob' }, houseOf(site.server));
    const disabled = await led('/admin/user-show?name=bob');
    const client = await led('/admin/client-show?client_id=led');
    const people = await led('/admin/user-list');
    const clients = await led('/admin/client-list');
    const keys = await led('/admin/key-list');
    const signing = await led('/admin/signing-keys-list');
    const lists = [people, clients, keys, signing].flat();
    // The pages of the sections and groups in the navigation.
    const groups = ['realm-list', 'private-token-keys', 'revocation-status', 'cache-stats'];
    const within = (await Promise.all(groups.map((name) => led(`/admin/${name}`)))).flat();
    const reached = new Set([...home, ...bob, ...disabled, ...client, ...lists, ...within]);
    // Bob has no key and no passkey, and only their rows lead to these operations.
    const fromRows = new Set(['user-key-remove', 'user-passkey-remove']);
    // The page of the keys refuses, since the pair issues no such tokens, and links to nothing.
    fromRows.add('private-token-rotate');
    const lost = OPERATIONS.map(({ name }) => slug(name)).filter(
      (name) => !reached.has(name) && !fromRows.has(name),
    );
    expect(lost).toEqual([]);
  });

  test('a list leads to the next page and to each of its rows, and a row leads to its changes', async () => {
    for (const id of ['paged-a', 'paged-b', 'paged-c']) {
      await site.server.stores.clients.add(someClient(id));
    }
    const first = await browser.open('/admin/client-list?search=paged-&limit=2');
    expect(first.text).toContain('/admin/client-show?client_id=paged-b');
    expect(first.text).not.toContain('paged-c');
    expect(first.text).toContain('?search=paged-&amp;limit=2&amp;after=paged-b');
    const next = await browser.open('/admin/client-list?search=paged-&limit=2&after=paged-b');
    expect(next.text).toContain('paged-c');
    const shown = await browser.open('/admin/client-show?client_id=paged-c');
    expect(shown.text).toContain('href="/admin/client-remove?client_id=paged-c"');
    expect(shown.text).not.toContain('secret_hash');
  });

  test('the page of a change says what will happen, only its form makes the change, and then the page says so', async () => {
    await site.server.stores.clients.add(someClient('goes'));
    const asked = await browser.open('/admin/client-remove?client_id=goes');
    expect(asked.text).toContain('This cannot be undone.');
    await browser.request('HEAD', '/admin/client-remove?client_id=goes');
    expect(await site.server.stores.clients.get('goes')).toBeDefined();
    const done = await browser.submit(asked);
    expect([done.status, done.text.includes('The application is removed.')]).toEqual([200, true]);
    expect(await site.server.stores.clients.get('goes')).toBeUndefined();
    const { id } = (await site.server.stores.people.getByName('alice')) ?? {};
    const { texts } = await site.server.stores.audit.open();
    expect(texts.map(entryOf).at(-1)).toMatchObject({ who: { person: id }, how: 'page' });
  });

  test('a mistake is shown beside its field, and the typed values stay', async () => {
    const asked = await browser.open('/admin/user-set');
    const refused = await browser.submit(asked, {
      name: 'bob',
      display_name: 'Robert <b>',
      locale: 'no language!',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/id="field-locale"[^>]*aria-describedby="field-locale-problem"/);
    expect(refused.text).toContain('value="Robert &lt;b&gt;"');
    expect((await site.server.stores.people.getByName('bob'))?.profile).toBeUndefined();
    const missing = await browser.submit(await browser.open('/admin/user-disable'), { name: 'x' });
    expect([missing.status, missing.text.includes('role="alert"')]).toEqual([404, true]);
    const said = ({ text }: Page) =>
      /role="alert">(.*?)<\/p>/s
        .exec(text)?.[1]
        ?.replaceAll(/<[^>]*>/g, '')
        .trim();
    expect(said(missing)).toBe('Nothing was done. There is no person x.');
    expect(said(await browser.open('/admin/user-show?name=ghost'))).toBe(
      'There is no person ghost.',
    );
  });

  test('several values are written one per line, and a ticked box clears a value', async () => {
    const asked = await browser.open('/admin/user-set');
    const set = { name: 'bob', groups: 'staff\r\n\r\nboard ', emails: 'b@example.com,verified' };
    expect((await browser.submit(asked, set)).status).toBe(200);
    const cleared = { name: 'bob', without: ['email', 'locale'] };
    expect((await browser.submit(asked, cleared)).status).toBe(409);
    const again = await browser.open('/admin/user-set');
    expect((await browser.submit(again, cleared)).status).toBe(200);
    const { profile } = (await site.server.stores.people.getByName('bob')) ?? {};
    expect(profile).toEqual({ groups: ['staff', 'board'] });
  });

  test('every mistake in one member has a code, and therefore a German text', async () => {
    const house = houseOf(site.server);
    await house.stores.clients.add({ ...someClient('app'), grant_types: ['authorization_code'] });
    const least: Readonly<Record<string, Texts>> = {
      'client add': new Map([
        ['client_name', ['App']],
        ['grant_types', ['client_credentials']],
      ]),
    };
    const wrong = [
      '',
      '\0',
      'a b',
      '-1',
      'http://x',
      'https://x/#y',
      'ftp://x',
      'é@x',
      'a,b',
      '{}',
    ];
    const unknown = new Set<string>();
    const FOREIGN = { code: 'other', message: 'no refusal' };
    for (const operation of OPERATIONS) {
      for (const member of Object.keys(operation.input.shape)) {
        for (const value of [...wrong, '9'.repeat(600), 'true']) {
          const texts = new Map([
            ['name', ['alice']],
            ['client_id', ['app']],
            ...(least[operation.name] ?? []),
            [member, [value]],
          ]);
          for (const name of texts.keys()) {
            if (!Object.hasOwn(operation.input.shape, name)) texts.delete(name);
          }
          try {
            await perform(operation, fromTexts(operation.input, texts), house);
          } catch (error) {
            const { code, message } = error instanceof Refused ? error.words : FOREIGN;
            if (code === 'other') {
              unknown.add(`${operation.name} ${member} ${value.slice(0, 9)}: ${message}`);
            }
          }
        }
      }
    }
    expect([...unknown]).toEqual([]);
  });

  test('an unknown member, a repeated member and an unknown page of a list are refused', async () => {
    for (const query of ['all=1', 'limit=1&limit=2', 'limit=x', '__proto__=1', 'after=%00&x=']) {
      const { status } = await browser.open(`/admin/client-list?${query}`);
      expect([query, status]).toEqual([query, query.startsWith('after') ? 200 : 422]);
    }
    const asked = await browser.open('/admin/client-remove');
    expect((await browser.submit(asked, { client_id: ['web', 'x'] })).status).toBe(400);
    expect((await browser.submit(asked, { client_id: 'web', other: '1' })).status).toBe(422);
    expect((await browser.submit(asked, { client_id: 'x'.repeat(20_000) })).status).toBe(413);
    expect(await site.server.stores.clients.get('web')).toBeDefined();
  });

  test('a reloaded page makes no second secret, and ten concurrent requests make one secret', async () => {
    await site.server.stores.clients.add({ ...someClient('has'), secret_hash: 'x' });
    const asked = await browser.open('/admin/client-secret?client_id=has');
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.send(asked)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(made.map(secretOf)).toEqual([expect.stringMatching(/^[\w-]{20,}$/)]);
    const before = await site.server.stores.clients.get('has');
    expect((await browser.send(asked)).status).toBe(409);
    expect(await site.server.stores.clients.get('has')).toEqual(before);
  });

  test('a form is valid at its own address, for its own person, for an hour', async () => {
    const asked = await browser.open('/admin/user-disable?name=bob');
    const once = new Map(asked.forms[0]?.fields).get('once') ?? '';
    const other = await browser.open('/admin/user-enable?name=bob');
    expect((await browser.submit(other, { once })).status).toBe(409);
    // Another process, whose clock is behind by the permitted difference.
    const early = await browser.open('/admin/user-set?name=bob');
    clock.set(-5);
    expect((await browser.send(early, { display_name: 'Bobby' })).status).toBe(200);
    expect((await browser.send(early, { display_name: 'Bobby' })).status).toBe(409);
    clock.set(5);
    clock.advance(3600);
    const back = await browser.submit(await browser.open('/admin'), ALICE);
    expect(new URL(back.url).pathname).toBe('/admin');
    expect((await browser.send(asked)).status).toBe(409);
    expect((await site.server.stores.people.getByName('bob'))?.disabled).toBeUndefined();
  });

  test('texts that clients and people choose are shown as text', async () => {
    const attack = '"><script>alert(1)</script>';
    const client = { ...someClient('odd'), client_name: attack, redirect_uris: [attack] };
    await site.server.stores.clients.add(client);
    const pages = [
      await browser.open('/admin/client-list?search=odd'),
      await browser.open('/admin/client-show?client_id=odd'),
      await browser.open(`/admin/client-show?client_id=${encodeURIComponent(attack)}`),
      await browser.open(`/admin/client-remove?client_id=${encodeURIComponent(attack)}`),
      await browser.open(`/admin/client-list?${encodeURIComponent(attack)}=1`),
    ];
    for (const { text } of pages) {
      expect(text).toContain('&quot;&gt;&lt;script&gt;');
      expect(text).not.toContain(attack);
    }
  });

  test('a form without the token, with the token of another browser, or from another site does nothing', async () => {
    const asked = await browser.open('/admin/user-disable?name=bob');
    const stranger = await signedIn(BOB);
    const foreign = new Map((await stranger.open('/account')).forms[0]?.fields).get('csrf') ?? '';
    const statuses = [
      (await browser.send(asked, { csrf: undefined })).status,
      (await browser.send(asked, { csrf: foreign })).status,
      (
        await browser.request('POST', '/admin/user-disable', new URLSearchParams({ name: 'bob' }), {
          origin: 'https://evil.example',
        })
      ).status,
      (
        await browser.request('POST', '/admin/user-disable', '{"name":"bob"}', {
          'content-type': 'application/json',
        })
      ).status,
    ];
    expect(statuses).toEqual([403, 403, 403, 415]);
    expect((await site.server.stores.people.getByName('bob'))?.disabled).toBeUndefined();
  });

  test('RFC 9110 section 15.5.6: a reading operation refuses POST', async () => {
    const { status, headers } = await browser.request('POST', '/admin/client-list', '');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('after ten minutes the page asks for the sign-in again, and keeps the typed values', async () => {
    const asked = await browser.open('/admin/user-set?name=bob');
    clock.advance(606);
    const again = await browser.send(asked, { display_name: 'Bobby' });
    expect(again.text).toContain('again after ten minutes');
    expect((await site.server.stores.people.getByName('bob'))?.profile).toBeUndefined();
    const back = await browser.submit(again, ALICE);
    expect(new URL(back.url).pathname).toBe('/admin/user-set');
    expect(back.text).toContain('value="Bobby"');
    expect((await browser.submit(back)).text).toContain('The profile is changed.');
  });
});

describe('visitors without the right to administer', () => {
  test.each(['bob', 'nobody'])(
    'the person %s gets the same answer at every address as at an unknown one',
    async (who) => {
      await start(true);
      await setAdmin('alice');
      const browser = who === 'bob' ? await signedIn(BOB) : site.browser();
      for (const accept of ['text/html', '*/*']) {
        browser.fields = { ...browser.fields, accept };
        for (const method of ['GET', 'HEAD', 'POST']) {
          const form = method === 'POST' ? 'name=bob' : undefined;
          const nowhere = told(await browser.request(method, '/nowhere', form));
          expect(nowhere[0]).toBe(404);
          for (const path of PATHS) {
            if (method === 'POST' && path === '') continue;
            const page = await browser.request(method, `/admin${path}`, form);
            expect([path, told(page)]).toEqual([path, nowhere]);
          }
        }
      }
      expect((await browser.open('/account')).text).not.toContain('href="/admin"');
    },
  );

  test('an administrator who is demoted or disabled while a page is open cannot make a change with it', async () => {
    await start(true);
    await setAdmin('alice');
    const browser = await signedIn(ALICE);
    const asked = await browser.open('/admin/client-remove?client_id=web');
    await setAdmin('alice', false);
    expect((await browser.send(asked)).status).toBe(404);
    await setAdmin('alice');
    expect((await browser.open('/admin')).status).toBe(200);
    await disablePerson(site.server, 'alice');
    expect((await browser.send(asked)).status).toBe(404);
    expect(await site.server.stores.clients.get(WEB.client_id)).toBeDefined();
  });

  test.each<[string, () => Promise<unknown>]>([
    ['demoted', () => setAdmin('alice', false)],
    ['disabled', () => disablePerson(site.server, 'alice')],
    ['signed out everywhere', () => perform(endUser, { name: 'alice' }, houseOf(site.server))],
  ])('an administrator who is %s while a form arrives slowly makes no change', async (_, end) => {
    await start(true);
    await setAdmin('alice');
    const browser = await signedIn(ALICE);
    const { forms } = await browser.open('/admin/user-set?name=bob');
    const form = forms.find(({ action }) => action === '/admin/user-set');
    const filled = new URLSearchParams({ admin: 'true' });
    for (const [name, value] of form?.fields ?? []) filled.append(name, value);
    const { status } = await sendSlowly(
      {
        url: `${browser.base}/admin/user-set`,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          cookie: browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        },
        content: Buffer.from(filled.toString()),
      },
      end,
    );
    expect(status).toBe(404);
    expect((await site.server.stores.people.getByName('bob'))?.admin).toBeUndefined();
  });
});

test('in production a password is not enough, and a second factor is', async () => {
  await start(false);
  const { code } = await withSecondFactor(site.server, 'alice');
  await setAdmin('alice');
  await setAdmin('bob');
  const weak = await signedIn(BOB);
  const asked = await weak.open('/admin/client-list');
  expect(asked.text).toContain('name="password"');
  expect(asked.text).not.toContain('<table>');
  const still = await weak.submit(asked, BOB);
  expect([still.url.endsWith('/admin/client-list'), still.text.includes('<table>')]).toEqual([
    true,
    false,
  ]);
  const browser = await signedIn(ALICE, code());
  expect((await browser.open('/admin/client-list')).text).toContain('<table>');
});
