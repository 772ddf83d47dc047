import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { ALL, openDeviceFlow, pathOf, signIn } from '../device/device.fixture.ts';
import type { DeviceFlow } from '../device/device.fixture.ts';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({
    scopeTexts: { 'documents:read': { en: 'Read your documents', de: 'Ihre Dokumente lesen' } },
  });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const grantOf = (body: Readonly<Record<string, unknown>>) =>
  String(decodeJwt(String(body['access_token']))['grant_id']);
const signInsOf = (name: 'alice' | 'bob') => listSignIns(flow.store, flow.people[name].id);
const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');
const idsOn = (page: Page) =>
  page.forms
    .map(({ fields }) => new Map(fields))
    .flatMap((fields) => (fields.get('end') === 'application' ? [] : (fields.get('id') ?? [])));

/** Sends the account page's form with these fields, whatever the page offered. */
async function end(browser: TestBrowser, changes: Changes): Promise<Page> {
  return browser.send(await browser.open('/account/end'), { id: '', ...changes }, '/account');
}

/** Matches the address at which the account page says that something ended. */
const saying = (ended: string) =>
  expect.stringMatching(new RegExp(`^/account\\?done=${ended}\\.\\d+\\.[\\w-]{43}$`));

async function connect(browser: TestBrowser): Promise<Record<string, unknown>> {
  const device = await flow.askAsDevice(ALL);
  const confirm = await browser.open(pathOf(device));
  await browser.submit(confirm, { decision: 'allow' }, '/device');
  return (await flow.poll(device)).body;
}

describe('the contents of the account page', () => {
  test('without a sign-in the page asks for one, and leads back', async () => {
    const browser = flow.browser();
    const asked = await browser.open('/account');
    expect(asksToSignIn(asked)).toBe(true);
    const account = await signIn(browser, asked, 'alice');
    expect([account.status, new URL(account.url).pathname]).toEqual([200, '/account']);
  });

  test('the page shows sign-ins, applications and devices, and describes their access in words', async () => {
    const browser = await flow.signedIn('alice');
    const web = (await flow.useWeb(browser, ALL.scope)).body;
    const tv = await connect(browser);
    const other = flow.browser();
    other.fields = { ...other.fields, 'user-agent': 'Other Browser' };
    await signIn(other, await other.open('/account'), 'alice');

    const page = await browser.open('/account');
    const uids = (await signInsOf('alice')).map(({ uid }) => uid);
    expect(uids).toHaveLength(2);
    expect(new Set(idsOn(page))).toEqual(new Set([...uids, grantOf(web), grantOf(tv)]));
    expect(page.text).toContain('Living room TV');
    expect(page.text).toContain('Read your documents');
    expect(page.text).not.toContain('documents:read');
    expect(page.text).toContain('documents:write');
    expect(page.headers.get('cache-control')).toBe('no-store');

    browser.fields = { ...browser.fields, 'accept-language': 'de' };
    expect((await browser.open('/account')).text).toContain('Ihre Dokumente lesen');
  });

  test('the page shows only data of the person', async () => {
    const alice = await flow.signedIn('alice');
    await connect(alice);
    const bob = await flow.signedIn('bob');
    const [{ uid } = { uid: '' }] = await signInsOf('bob');
    expect(idsOn(await bob.open('/account'))).toEqual([uid]);
  });

  test('the page names a removed client by its id', async () => {
    const browser = await flow.signedIn('alice');
    await connect(browser);
    await flow.authz.stores.clients.remove('tv');
    const { status, text } = await browser.open('/account');
    expect(status).toBe(200);
    expect(text).not.toContain('Living room TV');
    expect(text).toContain('<h3>tv</h3>');
  });

  test.each(['everything', 'password', 'password.0.x', '<b>', '__proto__', ''])(
    'the page says nothing for ?done=%s of another person',
    async (done) => {
      const browser = await flow.signedIn('alice');
      const plain = await browser.open('/account');
      const page = await browser.open(`/account?done=${encodeURIComponent(done)}`);
      expect(page.text).toBe(plain.text);
    },
  );
});

describe('ending at the account page', () => {
  test('after the end of an application its access token and refresh token are refused at once', async () => {
    const browser = await flow.signedIn('alice');
    const web = (await flow.useWeb(browser, `${ALL.scope} offline_access`)).body;
    const tv = await connect(browser);
    expect(await flow.userinfo(web['access_token'])).toBe(200);
    const after = await end(browser, { end: 'access', id: grantOf(web) });
    expect([after.status, after.headers.get('location')]).toEqual([303, saying('access')]);
    expect(await flow.userinfo(web['access_token'])).toBe(401);
    const refreshed = await flow.refresh('web', web['refresh_token']);
    expect([refreshed.status, refreshed.body['error']]).toEqual([400, 'invalid_grant']);
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
    expect(idsOn(await browser.open('/account'))).not.toContain(grantOf(web));
  });

  test('another browser is signed out with the grants that end with it, and this browser stays signed in', async () => {
    const browser = await flow.signedIn('alice');
    const [{ uid: mine } = { uid: '' }] = await signInsOf('alice');
    const other = await flow.signedIn('alice');
    const web = (await flow.useWeb(other, ALL.scope)).body;
    const id = (await signInsOf('alice')).find(({ uid }) => uid !== mine)?.uid ?? '';
    const after = await end(browser, { end: 'sign-in', id });
    expect(after.headers.get('location')).toEqual(saying('sign-in'));
    expect(asksToSignIn(await other.open('/account'))).toBe(true);
    expect(await flow.userinfo(web['access_token'])).toBe(401);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test.each([
    [
      'this browser',
      async () => ({ end: 'sign-in', id: (await signInsOf('alice'))[0]?.uid }),
      '/sign-out',
    ],
    ['everything', async () => ({ end: 'everything' }), '/account'],
  ])('after the end of %s this browser is signed out', async (_name, changes, path) => {
    const browser = await flow.signedIn('alice');
    const session = browser.cookies.filter(({ name }) => name.endsWith('session'));
    const page = await browser.follow(await end(browser, await changes()));
    expect([page.status, new URL(page.url).pathname]).toEqual([200, path]);
    expect(browser.cookies.filter(({ name }) => name.endsWith('session'))).toEqual([]);
    expect(session).not.toEqual([]);
    expect(await signInsOf('alice')).toEqual([]);
    expect(asksToSignIn(await browser.open('/account'))).toBe(true);
  });

  test('the end of all access ends all browsers, applications and devices of this person only', async () => {
    const browser = await flow.signedIn('alice');
    const other = await flow.signedIn('alice');
    const bob = await flow.signedIn('bob');
    const theirs = await connect(bob);
    const web = (await flow.useWeb(other, `${ALL.scope} offline_access`)).body;
    const tv = await connect(browser);
    await end(browser, { end: 'everything' });
    for (const token of [web, tv]) expect(await flow.userinfo(token['access_token'])).toBe(401);
    expect((await flow.refresh('web', web['refresh_token'])).status).toBe(400);
    expect((await flow.refresh('tv', tv['refresh_token'])).status).toBe(400);
    expect(asksToSignIn(await other.open('/account'))).toBe(true);
    expect(await flow.userinfo(theirs['access_token'])).toBe(200);
    expect(asksToSignIn(await bob.open('/account'))).toBe(false);
    expect(await flow.userinfo((await connect(await flow.signedIn('alice')))['access_token'])).toBe(
      200,
    );
  });

  test('grants and sessions of another person are not shown, and cannot be ended', async () => {
    const alice = await flow.signedIn('alice');
    const tv = await connect(alice);
    const [{ uid } = { uid: '' }] = await signInsOf('alice');
    const mallory = await flow.signedIn('bob');
    const missing = await end(mallory, { end: 'access', id: 'nothing' });
    for (const foreign of [
      { end: 'access', id: grantOf(tv) },
      { end: 'sign-in', id: uid },
      { end: 'sign-in', id: grantOf(tv) },
      { end: 'access', id: uid },
      { end: 'access', id: '__proto__' },
      { end: 'access', id: undefined },
    ]) {
      const page = await end(mallory, foreign);
      expect([page.status, page.text]).toEqual([404, missing.text]);
    }
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
    expect(asksToSignIn(await alice.open('/account'))).toBe(false);
    expect(await flow.grants('alice')).toBe(1);
  });

  test('a repeated end says so again, and later says that the access is gone, and ends nothing else', async () => {
    const browser = await flow.signedIn('alice');
    const id = grantOf(await connect(browser));
    const tv = await connect(browser);
    const first = await end(browser, { end: 'access', id });
    const second = await end(browser, { end: 'access', id });
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    flow.clock.advance(31);
    const third = await end(browser, { end: 'access', id });
    expect([first.status, second.status, third.status]).toEqual([303, 303, 404]);
    expect(third.text).toContain('That has ended already.');
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
  });

  test.each([
    ['an unknown end', { end: 'world' }],
    ['an inherited one', { end: '__proto__' }],
    ['no end', { end: undefined }],
    ['two ends', { end: ['access', 'everything'] }],
    ['two ids', { end: 'access', id: ['a', 'b'] }],
  ])('a form with %s gets 400 and ends nothing', async (_name, changes) => {
    const browser = await flow.signedIn('alice');
    expect((await end(browser, changes)).status).toBe(400);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test.each([
    ['without a token', {}, {}],
    ['with another token', { csrf: 'x'.repeat(43) }, {}],
    ['from another origin', undefined, { origin: 'https://attacker.example' }],
  ])('a form %s gets 403 and ends nothing (CSRF)', async (_name, csrf, headers) => {
    const browser = await flow.signedIn('alice');
    const { forms } = await browser.open('/account/end');
    const token = new Map(forms[0]?.fields).get('csrf') ?? '';
    const form = new URLSearchParams({ end: 'everything', ...(csrf ?? { csrf: token }) });
    expect((await browser.request('POST', '/account', form, headers)).status).toBe(403);
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test('a link ends nothing', async () => {
    const browser = await flow.signedIn('alice');
    await browser.open('/account?end=everything');
    expect(asksToSignIn(await browser.open('/account'))).toBe(false);
  });

  test('a form of a browser that was signed out meanwhile ends nothing', async () => {
    const browser = await flow.signedIn('alice');
    const tv = await connect(browser);
    const page = await browser.open('/account/end');
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    const asked = await browser.submit(page, { end: 'everything', id: '' }, '/account');
    expect(asksToSignIn(asked)).toBe(true);
    expect(asked.text).toContain('Nothing has ended');
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
  });

  test('before the end of all access the page asks for confirmation, and afterwards it lists what has ended', async () => {
    const browser = await flow.signedIn('alice');
    await flow.signedIn('alice');
    const tv = await connect(browser);
    const account = await browser.open('/account');
    expect(account.forms.flatMap(({ fields }) => fields)).not.toContainEqual(['end', 'everything']);
    expect(account.text).toContain('href="/account/end"');
    const asked = await browser.open('/account/end');
    expect(asked.text).toContain('End everything?');
    expect(asked.text).toContain('Living room TV');
    expect(asked.text).toContain('Your password, passkeys and keys stay');
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
    const ended = await browser.submit(asked);
    expect([ended.status, ended.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(ended.text).toContain('Everything has ended');
    expect(ended.text.match(/<dd>(.*?)<\/dd>/g)).toEqual(['<dd>2</dd>', '<dd>1</dd>']);
    expect(await flow.userinfo(tv['access_token'])).toBe(401);
    // Sends the form again as a reload does: at first the page says the same.
    expect((await browser.submit(asked)).text).toBe(ended.text);
    flow.clock.advance(31);
    const again = await browser.submit(asked);
    expect(again.text).toContain('Nothing has ended');
  });

  test('without a sign-in the page for the end of all access asks for one first', async () => {
    expect(asksToSignIn(await flow.browser().open('/account/end'))).toBe(true);
  });
});

describe('the message about a change on the account page', () => {
  /** Returns the address at which the page says that alice's access in this browser has ended. */
  async function ended(browser: TestBrowser): Promise<string> {
    const id = grantOf(await connect(browser));
    return (await end(browser, { end: 'access', id })).headers.get('location') ?? '';
  }
  const says = async (browser: TestBrowser, address: string) =>
    (await browser.open(address)).text.includes('The access has ended.');

  test('the page shows the message for five minutes', async () => {
    const browser = await flow.signedIn('alice');
    const address = await ended(browser);
    expect(await says(browser, address)).toBe(true);
    flow.clock.advance(299);
    expect(await says(browser, address)).toBe(true);
    flow.clock.advance(1);
    expect(await says(browser, address)).toBe(false);
  });

  test('the message is shown to no other person, on no other page, and cannot be reworded', async () => {
    const browser = await flow.signedIn('alice');
    const address = await ended(browser);
    expect(await says(await flow.signedIn('alice'), address)).toBe(false);
    expect(await says(await flow.signedIn('bob'), address)).toBe(false);
    const changed = address.replace('access.', 'password.');
    expect((await browser.open(changed)).text).not.toContain('Your password is changed');
    const removed = address
      .replace('/account?', '/account/passkeys?')
      .replace('access.', 'removed.');
    expect((await browser.open(removed)).text).not.toContain('The passkey is removed');
    for (const cut of [address.slice(0, -1), `${address}A`, address.replace(/\.\d+\./, '.1.')]) {
      expect(await says(browser, cut)).toBe(false);
    }
  });
});

describe('the page before the end of a single access', () => {
  const asking = (kind: string, id: string) =>
    `/account/end?${new URLSearchParams({ end: kind, id }).toString()}`;
  const pressed = async (browser: TestBrowser, id: string) => {
    const page = await browser.open('/account');
    const form = page.forms.find(({ fields }) => new Map(fields).get('id') === id);
    const query = new URLSearchParams(Object.fromEntries(form?.fields ?? []));
    return browser.open(`${form?.action}?${query.toString()}`);
  };

  test('the page describes the access, and ends nothing until its form is sent', async () => {
    const browser = await flow.signedIn('alice');
    const tv = await connect(browser);
    const asked = await pressed(browser, grantOf(tv));
    expect([asked.status, asked.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(asked.text).toContain('End this access?');
    expect(asked.text).toContain('Living room TV, ');
    expect(await flow.userinfo(tv['access_token'])).toBe(200);
    const after = await browser.submit(asked);
    expect(after.text).toContain('The access has ended.');
    expect(await flow.userinfo(tv['access_token'])).toBe(401);
  });

  test('for an application the page lists the browsers and devices where it has access', async () => {
    const browser = await flow.signedIn('alice');
    await connect(browser);
    const asked = await pressed(browser, 'tv');
    expect(asked.text).toContain('End the access of this application?');
    expect(asked.text.match(/<li>/g)).toHaveLength(1);
    expect((await browser.submit(asked)).text).toContain('The application has no access any more');
    expect(await flow.grants('alice')).toBe(0);
  });

  test('for a sign-in the page lists the applications that lose their access, and says whether it is this browser', async () => {
    const browser = await flow.signedIn('alice');
    const other = await flow.signedIn('alice');
    await flow.useWeb(other, ALL.scope);
    const uids = (await signInsOf('alice')).map(({ uid }) => uid);
    const asked = await Promise.all(uids.map((uid) => pressed(browser, uid)));
    const isHere = ({ text }: Page) =>
      text.includes('You are reading this in the browser that will be signed out.');
    const [here, there] = [asked.find(isHere), asked.find((page) => !isHere(page))];
    expect(here?.text).not.toContain('These applications lose');
    expect(there?.text).toContain('These applications lose');
    if (there === undefined || here === undefined) throw new Error('There are two sign-ins.');
    expect((await browser.submit(there)).text).toContain('That browser is signed out.');
    expect(new URL((await browser.submit(here)).url).pathname).toBe('/sign-out');
  });

  test('the page does not exist for access of other people, or for unknown kinds', async () => {
    const alice = await flow.signedIn('alice');
    const tv = await connect(alice);
    const [{ uid } = { uid: '' }] = await signInsOf('alice');
    const mallory = await flow.signedIn('bob');
    const missing = await mallory.open(asking('access', 'nothing'));
    expect(missing.status).toBe(404);
    for (const [kind, id] of [
      ['access', grantOf(tv)],
      ['application', 'tv'],
      ['sign-in', uid],
      ['key', uid],
      ['passkey', uid],
      ['world', uid],
      ['__proto__', uid],
      ['', uid],
    ] as const) {
      const page = await mallory.open(asking(kind, id));
      expect([page.status, page.text]).toEqual([404, missing.text]);
    }
    expect(asksToSignIn(await flow.browser().open(asking('access', grantOf(tv))))).toBe(true);
  });
});

describe('a person with many sign-ins, applications and devices', () => {
  const ids = Array.from({ length: 120 }, (_, n) => `grant-${n}`);
  beforeEach(async () => {
    const { id: accountId } = flow.people.alice;
    for (const [n, grantId] of ids.entries()) {
      const payload = { grantId, accountId, clientId: 'tv', generation: 0, since: n, device: {} };
      const seconds = 1000 + n;
      await flow.authz.stores.artefacts.put({ kind: 'Access', id: grantId, payload, seconds });
    }
  });
  const grantsIn = (page: Page) => idsOn(page).filter((id) => id.startsWith('grant-'));

  test('the overview shows a few of each group, and links to all', async () => {
    const browser = await flow.signedIn('alice');
    for (let n = 0; n < 7; n += 1) await flow.signedIn('alice');
    const page = await browser.open('/account');
    expect(grantsIn(page)).toHaveLength(5);
    expect(page.text).toContain('and 45 more');
    expect(idsOn(page).filter((id) => !id.startsWith('grant-'))).toHaveLength(5);
    expect(page.text).toContain('href="/account?show=applications"');
    const all = await browser.open('/account?show=sign-ins');
    expect(idsOn(all)).toHaveLength(8);
    expect(all.text).not.toContain('Living room TV');
  });

  test('this browser is listed first, however old its sign-in is', async () => {
    const browser = await flow.signedIn('alice');
    flow.clock.advance(1);
    for (let n = 0; n < 7; n += 1) await flow.signedIn('alice');
    const { text } = await browser.open('/account');
    const [, list = ''] = text.split('id="sign-ins"');
    expect(list.indexOf('This browser')).toBeLessThan(list.indexOf('</li>'));
  });

  test('the pages of a group are bounded, and together they show all entries', async () => {
    const browser = await flow.signedIn('alice');
    const grantsOn = async (query: string) =>
      grantsIn(await browser.open(`/account?show=applications${query}`));
    const first = await grantsOn('');
    expect(first).toHaveLength(50);
    const shown = [first, await grantsOn('&page=2'), await grantsOn('&page=3')].flat();
    expect(shown.toSorted()).toEqual(ids.toSorted());
    const second = await browser.open('/account?show=applications&page=2');
    expect(second.text).toContain('Page 2 of 3');
    for (const odd of ['&page=4', '&page=999999']) {
      expect(await grantsOn(odd)).toEqual(await grantsOn('&page=3'));
    }
    for (const odd of ['&page=0', '&page=-1', '&page=1e9', '&page=x', '&page=9999999999']) {
      expect(await grantsOn(odd)).toEqual(first);
    }
    const overview = idsOn(await browser.open('/account'));
    for (const odd of ['?show=x', '?show=', '?show=__proto__', '?page=2']) {
      expect(idsOn(await browser.open(`/account${odd}`))).toEqual(overview);
    }
  });
});

test('the last visit of another browser is shown to ten minutes', async () => {
  const browser = await flow.signedIn('alice');
  const other = await flow.signedIn('alice');
  flow.clock.advance(3 * 3600);
  await other.open('/account');
  flow.clock.advance(60);
  const { text } = await browser.open('/account');
  expect(text).toMatch(/<dt>Last seen<\/dt>\s*<dd>1 minute ago/);
});

test('a removed client for sign-in before an application is described in words', async () => {
  const { stores } = flow.authz;
  const { id: accountId } = flow.people.bob;
  const clientId = 'sign-in-CGZOabcdefghijkl';
  const payload = { grantId: 'gone', accountId, clientId, generation: 0, since: 1 };
  await stores.artefacts.put({ kind: 'Access', id: 'gone', payload, seconds: 1000 });
  const { text } = await (await flow.signedIn('bob')).open('/account');
  expect(text).toContain('<h3>An application that was removed</h3>');
  // The identifier is needed in the form that ends the access, and is not shown to the person.
  expect(text.replaceAll(/ value="[^"]*"/g, '')).not.toContain(clientId);
});

test('the sign-in page says whether the person continues to the account or a device', async () => {
  const asked = await flow.browser().open('/account');
  expect(asked.text).toContain('to go to your account');
  for (const path of ['/device', '/device?user_code=BCDF-GHJK']) {
    const page = await flow.browser().open(path);
    expect(asksToSignIn(page)).toBe(true);
    expect(page.text).toContain('to connect a device');
  }
  const browser = flow.browser();
  browser.fields = { ...browser.fields, 'accept-language': 'de' };
  expect((await browser.open('/device')).text).toContain('um ein Gerät zu verbinden');
});
