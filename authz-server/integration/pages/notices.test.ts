import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import { openDeviceFlow, PASSWORD, type DeviceFlow } from '../device/device.fixture.ts';
import { appFrom, codesOn, withSecondFactor } from '../second-factor.fixture.ts';

const MAIL = { host: 'mail.invalid', from: 'accounts@example.com' };
const ALICE = { name: 'alice', password: PASSWORD };
const NEW = 'another horse, another battery';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ mail: MAIL });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const server = () => ({ ...flow.authz, clock: flow.clock, random: systemRandom });

/** Returns the messages that wait for alice, including those that were read before. */
const messages = async () => {
  const { stores } = flow.authz;
  const all = await stores.outbox.take(flow.clock.now() + 1, flow.clock.now() + 1, 100);
  return all.filter(({ accountId }) => accountId === flow.people.alice.id);
};
/** Returns the kinds of those messages, without those about sign-ins. */
const waiting = async () =>
  (await messages())
    .filter(({ kind }) => kind !== 'new-sign-in')
    .map(({ kind }) => kind)
    .toSorted((a, b) => a.localeCompare(b));

test('a changed password causes a message, and a refused one does not', async () => {
  const browser = await flow.signedIn('alice');
  const path = '/account/password';
  for (const current of ['wrong', PASSWORD]) {
    await browser.send(await browser.open(path), { current, password: NEW }, path);
  }
  expect(await waiting()).toEqual(['password-changed']);
});

describe('messages about a first password', () => {
  const withoutPassword = async () => {
    const { people } = flow.authz.stores;
    const { password_hash: _gone, ...alice } =
      (await people.get(flow.people.alice.id)) ?? flow.people.alice;
    await people.replace({ ...alice, version: alice.version + 1 });
  };

  test('a first password on the account page causes a message', async () => {
    const browser = await flow.signedIn('alice');
    await withoutPassword();
    const path = '/account/password';
    await browser.send(await browser.open(path), { password: NEW }, path);
    expect(await waiting()).toEqual(['password-set']);
  });

  test('a first password by an invitation causes a message', async () => {
    await withoutPassword();
    const links = createRecoveryLinks({ stores: flow.authz.stores, random: systemRandom });
    const { id } = flow.people.alice;
    const path = `/recover/${await links.make({ person: id, purpose: 'invitation' })}`;
    const browser = flow.browser();
    await browser.send(await browser.open(path), { password: NEW }, path);
    expect(await waiting()).toEqual(['password-set']);
  });
});

test('a link that removes the second factor causes a message', async () => {
  const { stores } = flow.authz;
  const { id } = flow.people.alice;
  await stores.secondFactors.add(someSecondFactor(id));
  const links = createRecoveryLinks({ stores, random: systemRandom });
  const recovery = { person: id, purpose: 'recovery', secondFactor: true } as const;
  const path = `/recover/${await links.make(recovery)}`;
  const browser = flow.browser();
  await browser.send(await browser.open(path), { password: NEW }, path);
  expect(await waiting()).toEqual(['password-changed', 'second-factor-removed']);
});

test('the removal of a passkey causes a message, and that of an unknown passkey does not', async () => {
  const { id } = flow.people.alice;
  await flow.authz.stores.passkeys.add({ ...somePasskey('theirs'), accountId: id }, 10);
  const browser = await flow.signedIn('alice');
  const path = '/account/passkeys';
  for (const one of ['theirs', 'theirs']) {
    await browser.send(await browser.open(path), { do: 'removed', id: one }, path);
  }
  expect(await waiting()).toEqual(['passkey-removed']);
});

test('a new passkey causes a message, and a form without one does not', async () => {
  const browser = await flow.signedIn('alice');
  const path = '/account/passkeys';
  const authenticator = new Authenticator(flow.authz.config.issuer);
  const add = async (passkey?: string) => {
    const page = await browser.open(path);
    const made = passkey ?? authenticator.create(optionsIn(page));
    await browser.send(page, { do: 'added', passkey: made, name: 'Phone' }, path);
  };
  await add('{}');
  expect(await waiting()).toEqual([]);
  await add();
  expect(await waiting()).toEqual(['passkey-added']);
});

describe('messages about a second factor', () => {
  const path = '/account/second-factor';

  /** Returns alice, who has a second factor and is signed in with it. */
  async function alice() {
    const { code } = await withSecondFactor(server(), 'alice');
    const browser = flow.browser();
    const page = await browser.submit(await browser.open('/account'), ALICE);
    await browser.submit(page, { code: code() });
    return browser;
  }

  test('a set-up on the account page causes a message, and a wrong code does not', async () => {
    const browser = await flow.signedIn('alice');
    const wrong = await browser.submit(await browser.open(path), { code: '000000' });
    expect(await waiting()).toEqual([]);
    const done = await browser.submit(wrong, { code: appFrom(wrong, flow)() });
    expect(codesOn(done)).toHaveLength(10);
    expect(await waiting()).toEqual(['second-factor-set-up']);
  });

  test('the replacement of a second factor causes a message', async () => {
    const browser = await alice();
    const page = await browser.send(await browser.open(path), { change: 'another' }, path);
    const done = await browser.submit(page, { code: appFrom(page, flow)() });
    expect(codesOn(done)).toHaveLength(10);
    expect(await waiting()).toEqual(['second-factor-replaced']);
  });

  test('a set-up during a sign-in causes a message', async () => {
    await flow[Symbol.asyncDispose]();
    flow = await openDeviceFlow({ mail: MAIL, people: { secondFactor: 'required' } });
    const browser = flow.browser();
    const page = await browser.submit(await browser.open('/account'), ALICE);
    expect(await messages()).toEqual([]);
    const done = await browser.submit(page, { code: appFrom(page, flow)() });
    expect(codesOn(done)).toHaveLength(10);
    const kinds = (await messages()).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['second-factor-set-up', 'new-sign-in']));
  });

  test('a used recovery code causes a message, and the same code again does not', async () => {
    const { codes } = await withSecondFactor(server(), 'alice');
    for (const recovery of [codes[0] ?? '', codes[0] ?? '']) {
      const browser = flow.browser();
      const page = await browser.submit(await browser.open('/account'), ALICE);
      await browser.send(page, { recovery });
    }
    expect(await waiting()).toEqual(['recovery-code-used']);
  });

  test.each([
    ['renew', 'recovery-codes-renewed'],
    ['remove', 'second-factor-removed'],
  ])('the change %s on the account page causes the message %s', async (change, kind) => {
    const browser = await alice();
    const page = await browser.open(path);
    await browser.send(page, { change: 'nothing' }, path);
    expect(await waiting()).toEqual([]);
    await browser.send(page, { change }, path);
    expect(await waiting()).toEqual([kind]);
  });
});

describe('messages about a new sign-in', () => {
  const signInAt = async (browser: TestBrowser, who = ALICE) =>
    browser.submit(await browser.open('/account'), who);
  const leave = async (browser: TestBrowser) =>
    browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');

  test('a new browser causes one message with its origin, in its language, and a wrong password does not', async () => {
    const browser = flow.browser();
    browser.fields = { ...browser.fields, 'accept-language': 'de', 'user-agent': 'One/1' };
    await signInAt(browser, { ...ALICE, password: 'wrong' });
    expect(await messages()).toEqual([]);
    for (let n = 0; n < 2; n += 1) {
      expect((await signInAt(browser)).status).toBe(200);
      await leave(browser);
    }
    expect(await messages()).toMatchObject([
      {
        kind: 'new-sign-in',
        language: 'de',
        origin: { program: 'One/1', address: expect.stringMatching(/127\.0\.0\.1$/) },
      },
    ]);
  });

  test('each new browser causes a message, even if another person signed in there before', async () => {
    const browser = flow.browser();
    await signInAt(browser, { ...ALICE, name: 'bob' });
    await leave(browser);
    await signInAt(browser);
    await signInAt(flow.browser());
    expect(await messages()).toHaveLength(2);
  });

  test('a sign-in by a passkey causes a message, too', async () => {
    const browser = await flow.signedIn('alice');
    const authenticator = new Authenticator(flow.authz.config.issuer);
    const path = '/account/passkeys';
    const page = await browser.open(path);
    const made = authenticator.create(optionsIn(page));
    await browser.send(page, { do: 'added', passkey: made, name: 'Phone' }, path);
    const before = (await messages()).length;
    const other = flow.browser();
    const door = await other.open('/account');
    const passkey = authenticator.get(optionsIn(door));
    await other.submit(door, { passkey, name: '', password: '' });
    expect(await messages()).toHaveLength(before + 1);
  });

  test('the right password without a second step causes no message, and the browser stays unknown', async () => {
    const { code } = await withSecondFactor(server(), 'alice');
    const browser = flow.browser();
    const page = await signInAt(browser);
    expect(await messages()).toEqual([]);
    await browser.submit(page, { code: code() });
    expect(await messages()).toMatchObject([{ kind: 'new-sign-in' }]);
  });

  test('a forged cookie of a known browser is not accepted', async () => {
    const browser = flow.browser();
    const line = 'countersign-known=id.mark; path=/';
    browser.plant({ cookies: [{ name: 'countersign-known', line }] });
    await signInAt(browser);
    expect(await messages()).toMatchObject([{ kind: 'new-sign-in' }]);
  });
});
