import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { fresh } from '#shared/stores/contract/samples.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import {
  ALL,
  type DeviceFlow,
  openDeviceFlow,
  PASSWORD,
  signIn,
} from '../device/device.fixture.ts';

const PATH = '/account/remove';
const SETTINGS = { people: { removeThemselves: true } };

const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');

let flow: DeviceFlow;

/** Sends the form as the page has it. */
const remove = async (browser: TestBrowser, changes = {}) =>
  browser.send(await browser.open(PATH), changes, PATH);

const person = (name: 'alice' | 'bob') => flow.authz.stores.people.get(flow.people[name].id);

async function makeAdministrator(...names: readonly ('alice' | 'bob')[]): Promise<void> {
  for (const name of names) {
    const now = (await person(name)) ?? flow.people[name];
    await flow.authz.stores.people.replace({ ...now, version: now.version + 1, admin: true });
  }
}

describe('a person deletes their own account', () => {
  beforeEach(async () => {
    flow = await openDeviceFlow(SETTINGS);
  });
  afterEach(async () => flow[Symbol.asyncDispose]());

  test('everything of the person ends, and other people stay', async () => {
    const browser = await flow.signedIn('alice');
    const other = await flow.signedIn('alice');
    const { body } = await flow.useWeb(browser, ALL.scope);
    expect((await browser.open('/account/data')).text).toContain(`href="${PATH}"`);
    expect((await browser.open(PATH)).text).toContain('Web');
    const done = await remove(browser);
    expect([done.status, done.text.includes('Your account is deleted')]).toEqual([200, true]);
    expect(await person('alice')).toBeUndefined();
    expect(await person('bob')).toBeDefined();
    expect(await flow.userinfo(body['access_token'])).toBe(401);
    expect(await listSignIns(flow.store, flow.people.alice.id)).toEqual([]);
    for (const one of [browser, other]) expect(asksToSignIn(await one.open('/account'))).toBe(true);
    const again = flow.browser();
    const entry = await again.open('/account');
    const refused = await again.submit(entry, { name: 'alice', password: PASSWORD });
    expect(refused.status).not.toBe(200);
  });

  test('the log says who did it', async () => {
    await remove(await flow.signedIn('alice'));
    const { texts } = await flow.authz.stores.audit.open();
    const events = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const removed = events.find(({ kind }) => kind === 'person.removed');
    const { id } = flow.people.alice;
    expect(removed).toMatchObject({ who: { person: id }, how: 'page', person: id });
  });

  test('an old sign-in does not suffice, for the page and for the form', async () => {
    const browser = await flow.signedIn('alice');
    const form = await browser.open(PATH);
    flow.clock.advance(301);
    expect(asksToSignIn(await browser.open(PATH))).toBe(true);
    const asked = await browser.send(form, {}, PATH);
    expect(asksToSignIn(asked)).toBe(true);
    expect(await person('alice')).toBeDefined();
    const again = await browser.submit(asked, { password: PASSWORD }, '/sign-in');
    expect([new URL(again.url).pathname, await person('alice')]).toEqual([PATH, expect.anything()]);
  });

  test('a form from elsewhere, without its token, or with the token of another browser is refused', async () => {
    const browser = await flow.signedIn('alice');
    const form = await browser.open(PATH);
    const bob = await (await flow.signedIn('bob')).open(PATH);
    const csrf = new Map(bob.forms.find(({ action }) => action === PATH)?.fields).get('csrf');
    expect((await browser.send(form, { csrf: undefined }, PATH)).status).toBe(403);
    expect((await browser.send(form, { csrf }, PATH)).status).toBe(403);
    expect((await browser.send(form, { do: undefined }, PATH)).status).toBe(400);
    expect((await browser.send(form, { do: ['remove', 'remove'] }, PATH)).status).toBe(400);
    const fields = new URLSearchParams();
    const own = form.forms.find(({ action }) => action === PATH)?.fields ?? [];
    for (const [name, value] of own) fields.append(name, value);
    const elsewhere = { origin: 'https://evil.example' };
    expect((await browser.request('POST', PATH, fields, elsewhere)).status).toBe(403);
    expect((await browser.request('GET', `${PATH}?${fields.toString()}`)).status).toBe(200);
    expect(await person('alice')).toBeDefined();
  });

  test('a form of another person in the same browser deletes no account', async () => {
    const browser = await flow.signedIn('alice');
    const form = await browser.open(PATH);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    await signIn(browser, await browser.open('/account'), 'bob');
    const refused = await browser.send(form, {}, PATH);
    expect([refused.status, refused.text.includes('for another person')]).toEqual([409, true]);
    expect(refused.text).toContain('<strong>bob</strong>');
    expect([await person('alice'), await person('bob')]).not.toContain(undefined);
  });

  test('a form that a browser sends again gets the first answer again', async () => {
    const browser = await flow.signedIn('alice');
    const form = await browser.open(PATH);
    const cookies = flow.browser();
    cookies.plant(browser);
    const first = await browser.send(form, {}, PATH);
    const second = await cookies.send(form, {}, PATH);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
  });

  test('a refresh at the same time gives no token that works afterwards', async () => {
    const browser = await flow.signedIn('alice');
    const { body } = await flow.useWeb(browser, `${ALL.scope} offline_access`);
    const form = await browser.open(PATH);
    const [done, ...refreshed] = await Promise.all([
      browser.send(form, {}, PATH),
      ...Array.from({ length: 5 }, () => flow.refresh('web', body['refresh_token'])),
    ]);
    expect(done.status).toBe(200);
    for (const one of [body, ...refreshed.map((answer) => answer.body)]) {
      expect(await flow.userinfo(one['access_token'])).toBe(401);
      expect((await flow.refresh('web', one['refresh_token'])).status).toBe(400);
    }
    expect(await flow.grants('alice')).toBe(0);
  });

  test('the last administrator who can sign in stays, with every right', async () => {
    await makeAdministrator('alice');
    const browser = await flow.signedIn('alice');
    const refused = await remove(browser);
    expect([refused.status, refused.text.includes('last administrator')]).toEqual([409, true]);
    const stays = await person('alice');
    expect([stays?.admin, stays?.disabled]).toEqual([true, undefined]);
    expect((await browser.open('/account')).status).toBe(200);
    await makeAdministrator('bob');
    expect((await remove(browser)).status).toBe(200);
    expect(await person('alice')).toBeUndefined();
  });

  test('if the server stops before it has removed an administrator, no token of theirs works', async () => {
    await makeAdministrator('alice', 'bob');
    const browser = await flow.signedIn('alice');
    await flow.useWeb(browser, ALL.scope);
    const { id } = flow.people.alice;
    const form = await browser.open(PATH);
    // The removal reads the person by name, after an administrator was disabled.
    const getByName = () => Promise.reject(new StoreUnavailable('the machine stopped'));
    Object.assign(flow.authz.stores.people, { getByName });
    expect((await browser.send(form, {}, PATH)).status).toBe(503);
    expect(await person('alice')).toMatchObject({ disabled: true });
    expect(await flow.authz.stores.revocations.generation('person', id)).toBe(1);
  });

  test('an administrator who cannot sign in does not count', async () => {
    await makeAdministrator('alice', 'bob');
    const { password_hash: _, ...bob } = (await person('bob')) ?? flow.people.bob;
    await flow.authz.stores.people.replace({ ...bob, version: bob.version + 1 });
    expect((await remove(await flow.signedIn('alice'))).status).toBe(409);
  });
});

describe('at once', () => {
  let shared: SharedStore;
  beforeAll(async () => {
    shared = await startSharedStore();
  });
  afterAll(async () => shared[Symbol.asyncDispose]());
  afterEach(async () => flow[Symbol.asyncDispose]());

  /** Returns a store without rows of another test. */
  const ofItsOwn = () => {
    const name = fresh()
      .replaceAll(/[^a-z]/gi, '')
      .toLowerCase();
    const redis = shared.store.redis && { ...shared.store.redis, prefix: name };
    return { ...shared.store, schema: name, redis };
  };

  const STORES = [
    ['SQLite', () => undefined],
    ['PostgreSQL with Redis', ofItsOwn],
  ] as const;

  test.each(STORES)('on %s, ten forms of one person delete the account once', async (_, store) => {
    flow = await openDeviceFlow({ ...SETTINGS, ...(store() && { store: store() }) });
    const browser = await flow.signedIn('alice');
    const form = await browser.open(PATH);
    const sent = Array.from({ length: 10 }, () => browser.send(form, {}, PATH));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(await person('alice')).toBeUndefined();
    const { texts } = await flow.authz.stores.audit.open();
    expect(texts.filter((text) => text.includes('"person.removed"'))).toHaveLength(1);
  });

  test.each(STORES)('on %s, of two administrators one stays', async (_, store) => {
    flow = await openDeviceFlow({ ...SETTINGS, ...(store() && { store: store() }) });
    await makeAdministrator('alice', 'bob');
    const browsers = await Promise.all([flow.signedIn('alice'), flow.signedIn('bob')]);
    const sent = browsers.map(async (browser) => {
      const form = await browser.open(PATH);
      return Promise.all(Array.from({ length: 5 }, () => browser.send(form, {}, PATH)));
    });
    const statuses = (await Promise.all(sent)).flat().map(({ status }) => status);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    const left = await Promise.all([person('alice'), person('bob')]);
    const stays = left.filter((one) => one?.admin === true && one.disabled !== true);
    expect(stays).toHaveLength(1);
  });
});
