import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import {
  addPerson,
  disablePerson,
  enablePerson,
  setPassword,
  setProfile,
} from '#shared/people/people.ts';
import { createRecoveryLinks, type Recovery } from '#shared/people/recovery-links.ts';
import { removePerson } from '#shared/people/remove-person.ts';
import { somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { ALL, openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';

const NEW = 'another horse, another battery';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow();
});
afterEach(async () => flow[Symbol.asyncDispose]());

const people = () => ({
  ...flow.store,
  stores: flow.authz.stores,
  random: systemRandom,
  passwords: createPasswords(argon2Once),
  realms: [],
});

/** The path of a new link, for alice. */
async function link(more: Partial<Recovery> = {}): Promise<string> {
  const links = createRecoveryLinks({ stores: flow.authz.stores, random: systemRandom });
  const person = flow.people.alice.id;
  return `/recover/${await links.make({ person, purpose: 'recovery', ...more })}`;
}

async function enters(password: string, name = 'alice'): Promise<boolean> {
  const browser = flow.browser();
  const page = await browser.submit(await browser.open('/account'), { name, password });
  return page.status === 200;
}

/** Opens a link in a new browser, and sends its form. */
async function use(path: string, changes: Changes = {}): Promise<Page> {
  const browser = flow.browser();
  return browser.send(await browser.open(path), { password: NEW, ...changes }, path);
}

const asksToSignIn = (page: Page) => page.forms.some(({ action }) => action === '/sign-in');

describe('a link', () => {
  test('sets the password; everything that was open has ended, and nobody is signed in', async () => {
    const before = await flow.signedIn('alice');
    const bob = await flow.signedIn('bob');
    const token = (await flow.useWeb(before, ALL.scope)).body['access_token'];
    const browser = flow.browser();
    const path = await link();
    const page = await browser.open(path);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    // No other site learns the address of the page.
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    const done = await browser.send(page, { password: NEW }, path);
    expect([done.status, done.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(done.text).toContain('Your password is set');
    expect([await enters(PASSWORD), await enters(NEW)]).toEqual([false, true]);
    expect(asksToSignIn(await before.open('/account'))).toBe(true);
    expect(asksToSignIn(await browser.open('/account'))).toBe(true);
    expect(await flow.userinfo(token)).toBe(401);
    expect(asksToSignIn(await bob.open('/account'))).toBe(false);
  });

  test('works for somebody who was invited and has no password', async () => {
    const { id } = await addPerson(people(), { name: 'dora' });
    const path = await link({ person: id, purpose: 'invitation' });
    expect((await flow.browser().open(path)).text).toContain('Welcome: set your password');
    await use(path);
    expect(await enters(NEW, 'dora')).toBe(true);
  });

  test('by mail verifies the address that it was sent to, and no other', async () => {
    const address = 'dora@example.com';
    const emails = [address, 'other@example.com'].map((one) => ({ address: one, verified: false }));
    const { id } = await addPerson(people(), { name: 'dora', profile: { emails } });
    await use(await link({ person: id, purpose: 'invitation', address }));
    expect((await flow.authz.stores.people.get(id))?.profile?.emails).toEqual([
      { address, verified: true },
      { address: 'other@example.com', verified: false },
    ]);
  });

  test('sets the password, but verifies no address that is verified of somebody else', async () => {
    const emails = [{ address: 'dora@example.com', verified: false }];
    await setProfile(people(), 'bob', () => ({
      emails: [{ address: 'DORA@example.com', verified: true }],
    }));
    const { id } = await addPerson(people(), { name: 'dora', profile: { emails } });
    await use(await link({ person: id, purpose: 'invitation', address: 'dora@example.com' }));
    expect(await enters(NEW, 'dora')).toBe(true);
    expect((await flow.authz.stores.people.get(id))?.profile?.emails).toEqual(emails);
  });

  test.each([
    ['was never theirs', { purpose: 'invitation' }, []],
    [
      'is theirs no more',
      { purpose: 'recovery' },
      [{ address: 'new@example.com', verified: true }],
    ],
    [
      'is not verified, by whoever asked for it',
      { purpose: 'recovery', byMail: true },
      [{ address: 'dora@example.com', verified: false }],
    ],
    [
      'is theirs no more, with the second factor',
      { purpose: 'recovery', secondFactor: true },
      [{ address: 'new@example.com', verified: true }],
    ],
  ] as const)('that went to an address that %s is gone', async (_, right, emails) => {
    const { id } = await addPerson(people(), {
      name: 'dora',
      password: PASSWORD,
      profile: { emails },
    });
    const path = await link({ ...right, person: id, address: 'dora@example.com' });
    expect((await flow.browser().open(path)).status).toBe(404);
  });

  test('is gone once its person has another address, also where its form is open', async () => {
    const address = 'dora@example.com';
    const profile = { emails: [{ address, verified: true }] };
    const { id } = await addPerson(people(), { name: 'dora', password: PASSWORD, profile });
    const path = await link({ person: id, purpose: 'recovery', byMail: true, address });
    const browser = flow.browser();
    const page = await browser.open(path);
    expect(page.status).toBe(200);
    await setProfile(people(), 'dora', () => ({
      emails: [{ address: 'new@example.com', verified: true }],
    }));
    expect((await browser.send(page, { password: NEW }, path)).status).toBe(404);
    expect([await enters(PASSWORD, 'dora'), await enters(NEW, 'dora')]).toEqual([true, false]);
  });

  test('works once: a second time says how to get another', async () => {
    const path = await link();
    await use(path);
    const again = await flow.browser().open(path);
    expect(again.status).toBe(404);
    expect(again.text).toContain('works once, for 15 minutes');
    expect(again.text).not.toContain('alice');
  });

  test('leaves the second factor, unless it says that it removes it', async () => {
    const { secondFactors } = flow.authz.stores;
    const { id } = flow.people.alice;
    await secondFactors.add(someSecondFactor(id));
    await use(await link());
    expect(await secondFactors.get(id)).toBeDefined();
    const path = await link({ secondFactor: true });
    expect((await flow.browser().open(path)).text).toContain('Your second factor is removed');
    await use(path);
    expect(await secondFactors.get(id)).toBeUndefined();
  });

  test('stands in no line of the log', async () => {
    const lines: string[] = [];
    const log = (level: string) => (event: string, fields: object) =>
      void lines.push(JSON.stringify([level, event, fields]));
    await flow[Symbol.asyncDispose]();
    flow = await openDeviceFlow({}, { info: log('info'), warn: log('warn'), error: log('error') });
    const path = await link();
    await use(path);
    await flow.browser().open(path);
    await flow.browser().request('GET', path.replace('/recover/', '/RECOVER//'));
    expect(lines.join('\n')).toContain('/recover/');
    expect(lines.join('\n')).not.toContain(path.slice('/recover/'.length));
  });
});

describe('a program that opens every link of a mail uses nothing up:', () => {
  test.each([
    ['GET', undefined, {}, 200],
    ['HEAD', undefined, {}, 200],
    ['POST', new URLSearchParams(), {}, 403],
    ['POST', new URLSearchParams({ password: NEW }), {}, 403],
    ['POST', '{}', { 'content-type': 'application/json' }, 415],
    ['PUT', new URLSearchParams({ password: NEW }), {}, 501],
    ['DELETE', undefined, {}, 501],
  ])('%s %s', async (method, form, fields, status) => {
    const path = await link();
    for (let time = 0; time < 3; time += 1) {
      const page = await flow.browser().request(method, path, form, fields);
      expect(page.status).toBe(status);
    }
    expect(await enters(PASSWORD)).toBe(true);
    expect((await use(path)).status).toBe(200);
  });

  test('also one that presses the button of the form', async () => {
    const path = await link();
    expect((await use(path, { password: '' })).status).toBe(422);
    expect((await use(path)).text).toContain('Your password is set');
  });
});

describe('refused, and nothing changes:', () => {
  test.each<[string, Changes, number, string]>([
    ['a short password', { password: '1234567' }, 422, 'too short'],
    ['none', { password: undefined }, 422, 'too short'],
    ['one of more than 1,024 octets', { password: 'x'.repeat(1025) }, 422, 'too long'],
    ['a common one', { password: 'Football' }, 422, 'commonest'],
    ['two', { password: [NEW, `${NEW} 2`] }, 400, ''],
    ['a form of more than 16 KiB', { password: 'x'.repeat(17_000) }, 413, ''],
    ['the token of another browser (CSRF)', { csrf: 'x'.repeat(65) }, 403, ''],
  ])('%s; the link goes on', async (_, changes, status, sentence) => {
    const path = await link();
    const page = await use(path, changes);
    expect([page.status, page.text.includes(sentence)]).toEqual([status, true]);
    expect(await enters(PASSWORD)).toBe(true);
    expect((await use(path)).status).toBe(200);
  });

  test('a form that another site sends (CSRF)', async () => {
    const path = await link();
    const browser = flow.browser();
    const { forms } = await browser.open(path);
    const form = new URLSearchParams(
      [...(forms[0]?.fields ?? []), ['password', NEW]].map(([n, v]) => [n ?? '', v ?? '']),
    );
    const attack = { origin: 'https://attacker.example' };
    expect((await browser.request('POST', path, form, attack)).status).toBe(403);
    expect(await enters(PASSWORD)).toBe(true);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['of a disabled person', () => disablePerson(people(), 'alice')],
    [
      'of a person who was disabled and enabled again',
      async () => {
        await disablePerson(people(), 'alice');
        await enablePerson(people(), 'alice');
      },
    ],
    ['of a person who was removed', () => removePerson(people(), 'alice')],
    ['after another password was set', () => setPassword(people(), 'alice', 'set by an operator')],
    ['after a new link was made', () => link()],
    ['after 15 minutes', async () => flow.clock.advance(900)],
  ])('a link %s', async (_, meanwhile) => {
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    expect(page.status).toBe(200);
    await meanwhile();
    const late = await browser.send(page, { password: NEW }, path);
    expect([late.status, late.text.includes('This link does not work')]).toEqual([404, true]);
    expect((await flow.browser().open(path)).status).toBe(404);
    expect(await enters(NEW)).toBe(false);
  });

  test('guessed links are all alike, and hash nothing', async () => {
    const known = await link();
    await use(known);
    const browser = flow.browser();
    const gone = await browser.open(known);
    for (const guess of [
      '/recover/AAAAAAAAAAAAAAAAAAAAAA',
      `/recover/${flow.people.alice.id}`,
      '/recover/alice',
      '/recover/__proto__',
    ]) {
      const page = await browser.open(guess);
      expect([page.status, page.text]).toEqual([404, gone.text]);
    }
  });
});

test('a change of the profile leaves the link as it is', async () => {
  const path = await link();
  await setProfile(people(), 'alice', () => ({ display_name: 'Alice Liddell' }));
  expect((await use(path)).status).toBe(200);
});

test('ten at once: one password is set, the others are told that the link is used', async () => {
  const path = await link();
  const browser = flow.browser();
  const page = await browser.open(path);
  const pages = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      browser.send(page, { password: `${NEW} ${index}` }, path),
    ),
  );
  expect(pages.filter(({ status }) => status === 404)).toHaveLength(9);
  const entered: boolean[] = [];
  for (const index of pages.keys()) entered.push(await enters(`${NEW} ${index}`));
  expect(pages.map(({ status }) => status === 200)).toEqual(entered);
});

test('a browser in which somebody else is signed in stays theirs', async () => {
  const bob = await flow.signedIn('bob');
  const path = await link();
  await bob.send(await bob.open(path), { password: NEW }, path);
  expect((await bob.open('/account')).text).toContain('<strong>bob</strong>');
  expect(await listSignIns(flow.store, flow.people.alice.id)).toEqual([]);
});

describe('a link makes a passkey in place of the password', () => {
  /** The options of the page for a browser, and the answer of a new authenticator to them. */
  async function made(browser: TestBrowser, path: string) {
    const page = await browser.open(path);
    const authenticator = new Authenticator(flow.authz.config.issuer);
    return { page, authenticator, passkey: authenticator.create(optionsIn(page)) };
  }
  const passkeys = () => flow.authz.stores.passkeys.of(flow.people.alice.id);

  test('the person comes in with it, the old password does not let anybody in, and all else has ended', async () => {
    const before = await flow.signedIn('alice');
    const path = await link();
    const browser = flow.browser();
    const { page, authenticator, passkey } = await made(browser, path);
    const done = await browser.send(page, { passkey, password: undefined }, path);
    expect(done.text).toContain('Your passkey is made');
    expect(asksToSignIn(await browser.open('/account'))).toBe(true);
    expect(asksToSignIn(await before.open('/account'))).toBe(true);
    expect(await enters(PASSWORD)).toBe(false);
    const asked = await browser.open('/account');
    const answer = authenticator.get(optionsIn(asked));
    expect((await browser.submit(asked, { passkey: answer })).text).toContain('You have none.');
    expect((await browser.open(path)).status).toBe(404);
  });

  test('ten at once: one passkey', async () => {
    const path = await link({ purpose: 'invitation' });
    const browser = flow.browser();
    const all: { page: Page; passkey: string }[] = [];
    for (let n = 0; n < 10; n += 1) all.push(await made(browser, path));
    await Promise.all(all.map(({ page, passkey }) => browser.send(page, { passkey }, path)));
    expect(await passkeys()).toHaveLength(1);
  });

  test('an answer that is wrong uses nothing up', async () => {
    const path = await link();
    const browser = flow.browser();
    const { page } = await made(browser, path);
    const wrong = await browser.send(page, { passkey: '{}' }, path);
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringContaining('could not be checked'),
    ]);
    expect(await enters(PASSWORD)).toBe(true);
    expect((await use(path)).status).toBe(200);
  });

  test('never around a second factor, unless the link removes it', async () => {
    const factor = someSecondFactor(flow.people.alice.id);
    await flow.authz.stores.secondFactors.add(factor);
    const path = await link();
    const browser = flow.browser();
    const page = await browser.open(path);
    expect(page.text).not.toContain('id="passkey-button"');
    const { challenge } = optionsIn(await browser.open('/account'));
    const passkey = new Authenticator(flow.authz.config.issuer).create({ challenge });
    expect((await browser.send(page, { passkey }, path)).status).toBe(400);
    expect(await passkeys()).toEqual([]);
    const removing = await link({ secondFactor: true });
    const fresh = await made(browser, removing);
    const done = await browser.send(fresh.page, { passkey: fresh.passkey }, removing);
    expect(done.text).toContain('Your passkey is made');
    expect(await flow.authz.stores.secondFactors.get(factor.accountId)).toBeUndefined();
  });

  test('a person with 20 passkeys gets no other, and the link still sets a password', async () => {
    const accountId = flow.people.alice.id;
    for (let n = 0; n < MOST_PASSKEYS; n += 1) {
      const passkey = { ...somePasskey(`p${n}`), accountId };
      await flow.authz.stores.passkeys.add(passkey, MOST_PASSKEYS);
    }
    const path = await link();
    const browser = flow.browser();
    const { page, passkey } = await made(browser, path);
    const refused = await browser.send(page, { passkey }, path);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('the most')]);
    expect(await passkeys()).toHaveLength(MOST_PASSKEYS);
    expect((await use(path)).text).toContain('Your password is set');
  });

  test('a challenge of a link for somebody else makes nothing', async () => {
    const links = createRecoveryLinks({ stores: flow.authz.stores, random: systemRandom });
    const ofBob = await links.make({ person: flow.people.bob.id, purpose: 'recovery' });
    const browser = flow.browser();
    const { passkey } = await made(browser, `/recover/${ofBob}`);
    const path = await link();
    const after = await browser.send(await browser.open(path), { passkey }, path);
    expect(after.status).toBe(422);
    expect(await passkeys()).toEqual([]);
  });
});
