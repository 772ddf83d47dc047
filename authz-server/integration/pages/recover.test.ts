import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson, disablePerson, enablePerson, setPassword } from '#shared/people/people.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
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

/** Returns the path of a new link for alice. */
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

describe('a recovery link', () => {
  test('a link sets the password, ends all open access, and signs the person out', async () => {
    const before = await flow.signedIn('alice');
    const bob = await flow.signedIn('bob');
    const token = (await flow.useWeb(before, ALL.scope)).body['access_token'];
    const browser = flow.browser();
    const path = await link();
    const page = await browser.open(path);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    // No other site may learn the address of the page.
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

  test('a link works for an invited person who has no password', async () => {
    const { id } = await addPerson(people(), { name: 'dora' });
    const path = await link({ person: id, purpose: 'invitation' });
    expect((await flow.browser().open(path)).text).toContain('Welcome: set your password');
    await use(path);
    expect(await enters(NEW, 'dora')).toBe(true);
  });

  test('a link by mail verifies the address to which it was sent, and no other', async () => {
    const address = 'dora@example.com';
    const emails = [address, 'other@example.com'].map((one) => ({ address: one, verified: false }));
    const { id } = await addPerson(people(), { name: 'dora', profile: { emails } });
    await use(await link({ person: id, purpose: 'invitation', address }));
    expect((await flow.authz.stores.people.get(id))?.profile?.emails).toEqual([
      { address, verified: true },
      { address: 'other@example.com', verified: false },
    ]);
  });

  test("a link sets the password, but does not verify an address that is another person's verified address", async () => {
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
    ['never was an address of the person', { purpose: 'invitation' }, []],
    [
      'is no longer an address of the person',
      { purpose: 'recovery' },
      [{ address: 'new@example.com', verified: true }],
    ],
    [
      'is not verified, for a link that was requested by mail',
      { purpose: 'recovery', byMail: true },
      [{ address: 'dora@example.com', verified: false }],
    ],
    [
      'is no longer an address of the person, for a link that removes the second factor',
      { purpose: 'recovery', secondFactor: true },
      [{ address: 'new@example.com', verified: true }],
    ],
  ] as const)(
    'a link that was sent to an address that %s no longer exists',
    async (_, right, emails) => {
      const { id } = await addPerson(people(), {
        name: 'dora',
        password: PASSWORD,
        profile: { emails },
      });
      const path = await link({ ...right, person: id, address: 'dora@example.com' });
      expect((await flow.browser().open(path)).status).toBe(404);
    },
  );

  test('a link no longer exists after its person has another address, even if its form is open', async () => {
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

  test('a link works once, and the second time the page says how to get another', async () => {
    const path = await link();
    await use(path);
    const again = await flow.browser().open(path);
    expect(again.status).toBe(404);
    expect(again.text).toContain('works once, for 15 minutes');
    expect(again.text).not.toContain('alice');
  });

  test('a link keeps the second factor, unless it says that it removes it', async () => {
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

  test('a link is in no line of the log', async () => {
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

describe('a program that opens every link of a mail does not use up a recovery link', () => {
  test.each([
    ['GET', undefined, {}, 200],
    ['HEAD', undefined, {}, 200],
    ['POST', new URLSearchParams(), {}, 403],
    ['POST', new URLSearchParams({ password: NEW }), {}, 403],
    ['POST', '{}', { 'content-type': 'application/json' }, 415],
    ['PUT', new URLSearchParams({ password: NEW }), {}, 501],
    ['DELETE', undefined, {}, 501],
  ])(
    'a %s request to the link, with the content %s, uses up nothing',
    async (method, form, fields, status) => {
      const path = await link();
      for (let time = 0; time < 3; time += 1) {
        const page = await flow.browser().request(method, path, form, fields);
        expect(page.status).toBe(status);
      }
      expect(await enters(PASSWORD)).toBe(true);
      expect((await use(path)).status).toBe(200);
    },
  );

  test('a program that presses the button of the form uses up nothing', async () => {
    const path = await link();
    expect((await use(path, { password: '' })).status).toBe(422);
    expect((await use(path)).text).toContain('Your password is set');
  });
});

describe('refused recovery links and forms, which change nothing', () => {
  test.each<[string, Changes, number, string]>([
    ['a short password', { password: '1234567' }, 422, 'too short'],
    ['none', { password: undefined }, 422, 'too short'],
    ['one of more than 1,024 octets', { password: 'x'.repeat(1025) }, 422, 'too long'],
    ['a common one', { password: 'Football' }, 422, 'most common'],
    ['two', { password: [NEW, `${NEW} 2`] }, 400, ''],
    ['a form of more than 16 KiB', { password: 'x'.repeat(17_000) }, 413, ''],
    ['the token of another browser (CSRF)', { csrf: 'x'.repeat(65) }, 403, ''],
  ])('a form is refused for %s, and the link stays valid', async (_, changes, status, sentence) => {
    const path = await link();
    const page = await use(path, changes);
    expect([page.status, page.text.includes(sentence)]).toEqual([status, true]);
    expect(await enters(PASSWORD)).toBe(true);
    expect((await use(path)).status).toBe(200);
  });

  test('a form from another site is refused (CSRF)', async () => {
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
  ])('a link %s is refused', async (_, meanwhile) => {
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

  test('guessed links get the same answer, and hash no password', async () => {
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

test('a change of the profile does not affect the link', async () => {
  const path = await link();
  await setProfile(people(), 'alice', () => ({ display_name: 'Alice Liddell' }));
  expect((await use(path)).status).toBe(200);
});

test('if ten forms come at the same time, one password is set, and the others learn that the link is used', async () => {
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

test('the session of another person in the browser stays', async () => {
  const bob = await flow.signedIn('bob');
  const path = await link();
  await bob.send(await bob.open(path), { password: NEW }, path);
  expect((await bob.open('/account')).text).toContain('<strong>bob</strong>');
  expect(await listSignIns(flow.store, flow.people.alice.id)).toEqual([]);
});

describe('a recovery link that makes a passkey instead of a password', () => {
  /** Returns the options of the page for a browser, and the answer of a new authenticator to them. */
  async function made(browser: TestBrowser, path: string) {
    const page = await browser.open(path);
    const authenticator = new Authenticator(flow.authz.config.issuer);
    return { page, authenticator, passkey: authenticator.create(optionsIn(page)) };
  }
  const passkeys = () => flow.authz.stores.passkeys.of(flow.people.alice.id);

  test('the person signs in with the passkey, the old password does not work, and all other access has ended', async () => {
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
    expect((await browser.submit(asked, { passkey: answer })).text).toContain(
      'You have no password.',
    );
    expect((await browser.open(path)).status).toBe(404);
  });

  test('if ten forms come at the same time, one passkey is made', async () => {
    const path = await link({ purpose: 'invitation' });
    const browser = flow.browser();
    const all: { page: Page; passkey: string }[] = [];
    for (let n = 0; n < 10; n += 1) all.push(await made(browser, path));
    await Promise.all(all.map(({ page, passkey }) => browser.send(page, { passkey }, path)));
    expect(await passkeys()).toHaveLength(1);
  });

  test('an invalid answer uses up nothing', async () => {
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

  test('a link does not bypass a second factor, unless the link removes it', async () => {
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

  test('a person with 20 passkeys cannot add one, and the link still sets a password', async () => {
    const accountId = flow.people.alice.id;
    for (let n = 0; n < MOST_PASSKEYS; n += 1) {
      const passkey = { ...somePasskey(`p${n}`), accountId };
      await flow.authz.stores.passkeys.add(passkey, MOST_PASSKEYS);
    }
    const path = await link();
    const browser = flow.browser();
    const { page, passkey } = await made(browser, path);
    const refused = await browser.send(page, { passkey }, path);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('the maximum')]);
    expect(await passkeys()).toHaveLength(MOST_PASSKEYS);
    expect((await use(path)).text).toContain('Your password is set');
  });

  test("a challenge of another person's link makes no passkey", async () => {
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
