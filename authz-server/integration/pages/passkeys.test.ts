import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { claimsOf } from '../site.fixture.ts';
import {
  ALL,
  type DeviceFlow,
  openDeviceFlow,
  PASSWORD,
  pathOf,
} from '../device/device.fixture.ts';
import {
  Authenticator,
  BACKED_UP,
  type Changed,
  ELIGIBLE,
  optionsIn,
  PRESENT,
  VERIFIED,
} from '../authenticator.fixture.ts';
import { appFrom, codesOn } from '../second-factor.fixture.ts';

const PATH = '/account/passkeys';
const MINUTE = 60;

const limits = {
  account: { burst: 1000, per: 1 },
  signIn: { burst: 1000, per: 1 },
  userCode: { burst: 1000, per: 1 },
};

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({ limits });
});
afterEach(async () => flow[Symbol.asyncDispose]());

const origin = () => flow.authz.config.issuer;
const passkeysOf = (name: 'alice' | 'bob') => flow.authz.stores.passkeys.of(flow.people[name].id);

/** Makes a passkey on its page. Resolves to the answer. */
async function make(
  browser: TestBrowser,
  authenticator: Authenticator,
  changed: Changed & { readonly name?: string } = {},
): Promise<Page> {
  const page = await browser.open(PATH);
  const passkey = authenticator.create(optionsIn(page), changed);
  return browser.submit(page, { do: 'added', passkey, name: changed.name ?? 'Phone' }, PATH);
}

/** Uses a passkey on a sign-in page. Resolves to the page that follows. */
async function use(
  browser: TestBrowser,
  authenticator: Authenticator,
  changed: Changed = {},
  path = '/account',
): Promise<Page> {
  const page = await browser.open(path);
  const passkey = authenticator.get(optionsIn(page), changed);
  return browser.submit(page, { passkey, name: '', password: '' });
}

/** Returns alice with a passkey, in the browser where she made it. */
async function aliceWithPasskey() {
  const browser = await flow.signedIn('alice');
  const authenticator = new Authenticator(origin());
  const page = await make(browser, authenticator);
  expect(page.text).toContain('The passkey is made.');
  return { browser, authenticator };
}

describe('how the last sign-in in this browser was done', () => {
  const first = ({ text }: Page) => text.indexOf('data-way="get"') < text.indexOf('id="name"');

  test('after a passkey a passkey is offered first, and after a password a password', async () => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    expect(first(await browser.open('/account'))).toBe(false);
    const account = await use(browser, authenticator);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    const again = await browser.open('/account');
    expect(first(again)).toBe(true);
    expect(again.text).toContain('Use a passkey, as last time');
    expect(account.text).toContain('alice');
    await browser.submit(again, { name: 'alice', password: PASSWORD });
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    expect(first(await browser.open('/account'))).toBe(false);
  });

  test('the cookie does not identify the person, and a wrong password sets none', async () => {
    const { browser } = await aliceWithPasskey();
    const way = browser.cookies.find(({ name }) => name === 'countersign-way');
    expect(way?.value).toBe('password');
    expect(way?.line).toMatch(/httponly/i);
    const other = flow.browser();
    await other.submit(await other.open('/account'), { name: 'alice', password: 'wrong' });
    expect(other.cookies.map(({ name }) => name)).not.toContain('countersign-way');
    other.plant({ cookies: [{ name: 'countersign-way', line: 'countersign-way=<b>; path=/' }] });
    const odd = await other.open('/account');
    expect([odd.status, first(odd)]).toEqual([200, false]);
  });
});

const isSignedIn = async (browser: TestBrowser) =>
  (await browser.open('/account')).text.includes('/sign-out');

describe('making a passkey (WebAuthn section 7.1)', () => {
  test('a passkey is stored with its name and listed, and signs its person in without name or password', async () => {
    const { authenticator } = await aliceWithPasskey();
    const [kept] = await passkeysOf('alice');
    expect(kept).toMatchObject({ id: authenticator.id, name: 'Phone', rpId: 'localhost' });
    const other = flow.browser();
    expect((await use(other, authenticator)).text).toContain('alice');
    expect((await other.open(PATH)).text).toContain('Used just now');
  });

  test('the options require a passkey with verification, for this host, and identify the person without a name', async () => {
    const page = await (await flow.signedIn('alice')).open(PATH);
    const options = optionsIn(page);
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    const handle = options.user?.id ?? '';
    expect(Buffer.from(handle, 'base64url')).toHaveLength(32);
    expect(handle).not.toContain(flow.people.alice.id);
  });

  const refusals: readonly (readonly [string, Changed])[] = [
    ['of another origin', { origin: 'https://evil.example' }],
    ['asked for in a frame of another origin', { crossOrigin: true }],
    [
      'asked for in a frame of a page that it names',
      { crossOrigin: true, topOrigin: 'https://evil.example' },
    ],
    ['with the page of a frame that it denies', { topOrigin: 'https://evil.example' }],
    ['that is backed up and may not be', { flags: PRESENT | VERIFIED | BACKED_UP }],
    ['for another host', { rpId: 'evil.example' }],
    ['of another ceremony', { type: 'webauthn.get' }],
    ['without verification of its owner', { flags: PRESENT }],
    ['without its owner', { flags: 0 }],
    ['with an attestation, whose certificates would name addresses', { fmt: 'packed' }],
  ];
  test.each(refusals)('an answer %s is refused', async (_title, changed) => {
    const browser = await flow.signedIn('alice');
    const page = await make(browser, new Authenticator(origin()), changed);
    expect(page.status).toBe(422);
    expect(page.text).toContain('could not be checked');
    expect(await passkeysOf('alice')).toEqual([]);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['null', 'null'],
    ['another type', '{"id":"AA","rawId":"AA","type":"password","response":{}}'],
    [
      'an attestation object that is no CBOR',
      JSON.stringify({
        id: 'AA',
        rawId: 'AA',
        type: 'public-key',
        response: { clientDataJSON: 'AAAA', attestationObject: '_____w' },
      }),
    ],
  ])('%s as an answer gets 422', async (_title, passkey) => {
    const browser = await flow.signedIn('alice');
    const page = await browser.open(PATH);
    const after = await browser.submit(page, { do: 'added', passkey, name: 'x' }, PATH);
    expect(after.status).toBe(422);
  });

  test('a challenge works once, within five minutes, only for its person, browser and purpose', async () => {
    const alice = await flow.signedIn('alice');
    const page = await alice.open(PATH);
    const first = new Authenticator(origin()).create(optionsIn(page));
    const again = new Authenticator(origin()).create(optionsIn(page));
    let sent = 0;
    const send = (browser: TestBrowser, on: Page, passkey: string) =>
      browser.submit(on, { do: 'added', passkey, name: `x${(sent += 1)}` }, PATH);
    expect((await send(alice, page, first)).status).toBe(200);
    expect((await send(alice, page, again)).text).toContain('sent the page twice');
    const bob = await flow.signedIn('bob');
    const forAlice = new Authenticator(origin()).create(optionsIn(await alice.open(PATH)));
    expect((await send(bob, await bob.open(PATH), forAlice)).status).toBe(422);
    const elsewhere = await flow.signedIn('alice');
    expect((await send(elsewhere, await elsewhere.open(PATH), forAlice)).status).toBe(422);
    const late = await alice.open(PATH);
    flow.clock.advance(5 * MINUTE + 1);
    const fresh = await flow.signedIn('alice');
    const lateAnswer = new Authenticator(origin()).create(optionsIn(late));
    expect((await send(fresh, await fresh.open(PATH), lateAnswer)).status).toBe(422);
    expect(await passkeysOf('alice')).toHaveLength(1);
    expect(await passkeysOf('bob')).toEqual([]);
  });

  test('a challenge for a sign-in makes no passkey', async () => {
    const browser = await flow.signedIn('alice');
    const { challenge } = optionsIn(await flow.browser().open('/account'));
    expect((await make(browser, new Authenticator(origin()), { challenge })).status).toBe(422);
  });

  test.each(['', '   ', 'a\u0000b', 'a\u202eb', 'x'.repeat(101)])(
    'the name %j is refused, and the form keeps it',
    async (name) => {
      const browser = await flow.signedIn('alice');
      const page = await make(browser, new Authenticator(origin()), { name });
      expect(page.status).toBe(422);
      expect(page.text).toContain('1 to 100 visible characters');
      expect(await passkeysOf('alice')).toEqual([]);
    },
  );

  test('the passkey of another person cannot be taken over', async () => {
    const { authenticator } = await aliceWithPasskey();
    const page = await make(await flow.signedIn('bob'), authenticator);
    expect(page.text).toContain('This passkey is already registered.');
    expect(await passkeysOf('bob')).toEqual([]);
  });

  test('a person has at most 20 passkeys, even if the last two are made at the same time', async () => {
    const browser = await flow.signedIn('alice');
    const numbered = (n: number) => make(browser, new Authenticator(origin()), { name: `n${n}` });
    for (let n = 0; n < 19; n += 1) await numbered(n);
    const made = await Promise.all([numbered(19), numbered(20)]);
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200, 422]));
    expect(await passkeysOf('alice')).toHaveLength(20);
  });
});

describe('a change needs a sign-in of the last five minutes', () => {
  test('a thief of a session can neither see nor make nor remove passkeys', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    const page = await browser.open(PATH);
    flow.clock.advance(5 * MINUTE + 1);
    for (const changes of [
      { do: 'added', passkey: new Authenticator(origin()).create(optionsIn(page)), name: 'x' },
      { do: 'removed', id: authenticator.id },
      { do: 'renamed', id: authenticator.id, name: 'Mine' },
    ]) {
      const after = await browser.submit(page, changes, PATH);
      expect(after.text).toContain('Sign in once more before you change how you sign in.');
    }
    expect((await browser.open(PATH)).text).not.toContain('Phone');
    expect(await passkeysOf('alice')).toMatchObject([{ name: 'Phone' }]);
    const again = await browser.open(PATH);
    const password = 'correct horse battery staple';
    expect((await browser.submit(again, { name: 'alice', password })).text).toContain('Phone');
  });

  test.each([
    [5, true],
    [6, false],
  ])('a sign-in %d seconds ahead of the answering process is recent: %s', async (ahead, is) => {
    const browser = await flow.signedIn('alice');
    flow.clock.set(-ahead);
    expect((await browser.open(PATH)).text.includes('Sign in once more')).toBe(!is);
  });

  test('keys of HOBA and Concealed need such a sign-in, too', async () => {
    const browser = await flow.signedIn('alice');
    const page = await browser.open('/account/end');
    flow.clock.advance(5 * MINUTE + 1);
    const after = await browser.submit(page, { end: 'key', id: 'k' }, '/account');
    expect(after.text).toContain('Sign in once more');
  });

  test('forged forms change nothing (CSRF)', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    const page = await browser.open(PATH);
    const theirs = new Authenticator(origin()).create(optionsIn(page));
    for (const changes of [
      { do: 'removed', id: authenticator.id },
      { do: 'renamed', id: authenticator.id, name: 'Theirs' },
      { do: 'added', passkey: theirs, name: 'Theirs' },
    ]) {
      for (const csrf of ['x', undefined]) {
        expect((await browser.submit(page, { ...changes, csrf }, PATH)).status).toBe(403);
      }
    }
    expect(await passkeysOf('alice')).toMatchObject([{ id: authenticator.id, name: 'Phone' }]);
  });

  test.each(['', 'everything', '__proto__'])('the change %j gets 400', async (change) => {
    const { browser } = await aliceWithPasskey();
    const page = await browser.open(PATH);
    expect((await browser.submit(page, { do: change }, PATH)).status).toBe(400);
  });
});

describe('sign-in with a passkey (WebAuthn section 7.2)', () => {
  const refusals: readonly (readonly [string, Changed])[] = [
    ['of another origin', { origin: 'https://evil.example' }],
    ['asked for in a frame of another origin', { crossOrigin: true }],
    [
      'asked for in a frame of a page that it names',
      { crossOrigin: true, topOrigin: 'https://evil.example' },
    ],
    ['with the page of a frame that it denies', { topOrigin: 'https://evil.example' }],
    ['that is backed up and may not be', { flags: PRESENT | VERIFIED | BACKED_UP }],
    ['for another host', { rpId: 'evil.example' }],
    ['of another ceremony', { type: 'webauthn.create' }],
    ['without verification of its owner', { flags: PRESENT }],
    ['with the handle of somebody else', { userHandle: Buffer.alloc(32).toString('base64url') }],
    ['without a handle', { userHandle: '' }],
    ['of a passkey that may be backed up now', { flags: PRESENT | VERIFIED | ELIGIBLE }],
  ];
  test.each(refusals)('an answer %s does not sign the person in', async (_title, changed) => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    const page = await use(browser, authenticator, changed);
    expect(page.status).toBe(422);
    expect(page.text).toContain('You cannot sign in with this passkey');
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('step 17: whether a passkey may be backed up is stored when it is made, and cannot change', async () => {
    const { authenticator } = await aliceWithPasskey();
    const [made] = await passkeysOf('alice');
    if (made === undefined) throw new Error('alice has no passkey');
    expect(made.backupEligible).toBe(false);
    const { passkeys } = flow.authz.stores;
    await passkeys.removeAll(flow.people.alice.id);
    await passkeys.add({ ...made, backupEligible: true }, 1);
    const browser = flow.browser();
    const eligible = { flags: PRESENT | VERIFIED | ELIGIBLE | BACKED_UP };
    await use(browser, authenticator, eligible);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await passkeysOf('alice')).toMatchObject([{ backupEligible: true, backedUp: true }]);
    expect((await use(flow.browser(), authenticator)).status).toBe(422);
    expect((await use(flow.browser(), authenticator, eligible)).status).toBe(200);
  });

  test('the signature of another key does not sign the person in', async () => {
    const { authenticator } = await aliceWithPasskey();
    const other = new Authenticator(origin());
    const browser = flow.browser();
    const page = await browser.open('/account');
    const options = optionsIn(page);
    const forged = JSON.parse(other.get(options)) as { response: { signature: string } };
    const right = JSON.parse(authenticator.get(options)) as { response: object };
    const { signature } = forged.response;
    const passkey = JSON.stringify({ ...right, response: { ...right.response, signature } });
    expect((await browser.submit(page, { passkey })).status).toBe(422);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('an unknown passkey and the passkey of a disabled person are refused in the same way', async () => {
    const { authenticator } = await aliceWithPasskey();
    const unknown = await use(flow.browser(), new Authenticator(origin()));
    await changeAlice((alice) => ({ ...alice, disabled: true }));
    const masked = ({ status, text }: Page) => [
      status,
      text.replaceAll(/(?<=value="|challenge&quot;:&quot;)[\w.-]+/g, 'X'),
    ];
    expect(masked(await use(flow.browser(), authenticator))).toEqual(masked(unknown));
  });

  test('enumeration: neither a wrong password nor a page that asks reveals whether a person has passkeys', async () => {
    await aliceWithPasskey();
    const asked = flow.browser();
    const page = await asked.open('/account');
    expect(optionsIn(page)).not.toHaveProperty('allowCredentials');
    const answers = ['alice', 'bob', 'nobody'].map(async (name) => {
      const { status, text } = await asked.submit(page, { name, password: 'wrong' });
      const same = text
        .replaceAll(name, 'NAME')
        .replaceAll(/(?<=challenge&quot;:&quot;)[\w-]+/g, 'X');
      return { status, text: same };
    });
    const [alice, bob, nobody] = await Promise.all(answers);
    expect(alice?.status).toBe(422);
    expect([bob, nobody]).toEqual([alice, alice]);
  });

  test('an answer works once; if ten equal answers come at the same time, all lead to the same sign-in', async () => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    const page = await browser.open('/account');
    const passkey = authenticator.get(optionsIn(page));
    const sent = Array.from({ length: 10 }, () => browser.send(page, { passkey }));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toEqual(Array(10).fill(303));
    expect(await listSignIns(flow.store, flow.people.alice.id)).toHaveLength(2);
    flow.clock.advance(31_000);
    expect((await browser.send(page, { passkey })).status).toBe(422);
  });

  test('an answer from another browser, or to a challenge that is older than five minutes, is refused', async () => {
    const { authenticator } = await aliceWithPasskey();
    const [victim, attacker] = [flow.browser(), flow.browser()];
    const stolen = authenticator.get(optionsIn(await victim.open('/account')));
    const page = await attacker.open('/account');
    const after = await attacker.submit(page, { passkey: stolen });
    expect(after.text).toContain('sent it twice');
    const passkey = authenticator.get(optionsIn(page));
    flow.clock.advance(5 * MINUTE + 1);
    expect((await attacker.submit(page, { passkey })).text).toContain('longer than five minutes');
    expect(await isSignedIn(attacker)).toBe(false);
  });

  test.each([
    ['the limits', () => flow.authz.stores.limits, 'spend'],
    ['the challenges that were used', () => flow.authz.stores.replay, 'unique'],
    ['the passkeys', () => flow.authz.stores.passkeys, 'get'],
    ['the uses', () => flow.authz.stores.passkeys, 'use'],
    ['what was revoked', () => flow.authz.stores.revocations, 'generation'],
  ])(
    'if %s do not answer, the answer is 503, no person is signed in, and the next attempt works',
    async (_title, part, verb) => {
      const { authenticator } = await aliceWithPasskey();
      const browser = flow.browser();
      const page = await browser.open('/account');
      const passkey = authenticator.get(optionsIn(page));
      using failing = jest.spyOn(part() as unknown as Record<string, () => unknown>, verb);
      failing.mockImplementation(() => Promise.reject(new StoreUnavailable('it is paused')));
      const refused = await browser.submit(page, { passkey });
      failing.mockRestore();
      expect(refused.status).toBe(503);
      expect(await isSignedIn(browser)).toBe(false);
      expect((await use(browser, authenticator)).text).toContain('alice');
    },
  );

  test("if the store's answer to a use is lost after the write, the person is not told of a copied passkey", async () => {
    const { authenticator } = await aliceWithPasskey();
    authenticator.counter = 5;
    const { passkeys } = flow.authz.stores;
    const write = passkeys.use.bind(passkeys);
    const browser = flow.browser();
    using lost = jest.spyOn(passkeys, 'use');
    lost.mockImplementationOnce(async (...noted) => {
      await write(...noted);
      throw new StoreUnavailable('its answer is lost');
    });
    expect((await use(browser, authenticator)).status).toBe(503);
    authenticator.counter += 1;
    expect((await use(browser, authenticator)).text).toContain('alice');
    expect((await passkeysOf('alice'))[0]?.refused_at).toBeUndefined();
  });

  test('if the clock jumps an hour ahead and back, an answer works once, and an unused answer still works', async () => {
    const { authenticator } = await aliceWithPasskey();
    const [browser, other] = [flow.browser(), flow.browser()];
    const [page, waiting] = [await browser.open('/account'), await other.open('/account')];
    const passkey = authenticator.get(optionsIn(page));
    const unused = authenticator.get(optionsIn(waiting));
    expect((await browser.send(page, { passkey })).status).toBe(303);
    flow.clock.set(3600);
    await flow.authz.stores.sweep();
    for (const [at, shown, answer] of [
      [browser, page, passkey],
      [other, waiting, unused],
    ] as const) {
      expect((await at.send(shown, { passkey: answer })).status).toBe(422);
    }
    flow.clock.set(-3600);
    // A clock that was set back leaves limits empty, and each limit fills from the next attempt on.
    for (let n = 0; n < 3; n += 1) {
      await other.send(waiting, { passkey: '{}' });
      flow.clock.advance(10);
    }
    expect((await browser.send(page, { passkey })).status).toBe(422);
    expect((await other.send(waiting, { passkey: unused })).status).toBe(303);
  });

  test('a counter that does not increase is refused, and the person is told', async () => {
    const { authenticator } = await aliceWithPasskey();
    authenticator.counter = 5;
    expect((await use(flow.browser(), authenticator)).text).toContain('alice');
    for (const counter of [5, 4, 0]) {
      const page = await use(flow.browser(), authenticator, { counter });
      expect([page.status, page.text]).toEqual([422, expect.stringContaining('a copy of it')]);
    }
    const told = await (await flow.signedIn('alice')).open(PATH);
    expect(told.text).toContain('another person may have a copy');
    authenticator.counter = 6;
    expect((await use(flow.browser(), authenticator)).text).toContain('alice');
  });

  test.each(['{', 'null', '[]', '{"id":"AA"}', 'x'.repeat(4000)])(
    'the answer %p is invalid: 422',
    async (passkey) => {
      const browser = flow.browser();
      const page = await browser.submit(await browser.open('/account'), { passkey });
      expect(page.status).toBe(422);
    },
  );

  test('the tokens have acr and amr of a passkey (RFC 8176 section 2)', async () => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    await use(browser, authenticator);
    const { body } = await flow.useWeb(browser, 'openid documents:read');
    const acr = 'urn:countersign:acr:passkey';
    expect(claimsOf(body['access_token'])).toMatchObject({ acr });
    expect(claimsOf(body['id_token'])).toMatchObject({ acr, amr: ['hwk', 'user', 'mfa'] });
  });
});

describe('removing a passkey', () => {
  test('a removed passkey ends the sign-ins that were made with it and their grants, and no others', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    const withIt = flow.browser();
    await use(withIt, authenticator);
    const inside = await flow.useWeb(withIt, 'openid documents:read');
    const connect = async (to: TestBrowser) => {
      const device = await flow.askAsDevice(ALL);
      await to.submit(await to.open(pathOf(device)), { decision: 'allow' }, '/device');
      return flow.poll(device);
    };
    const [outliving, other] = [await connect(withIt), await connect(browser)];
    const page = await browser.submit(
      await browser.open(PATH),
      { do: 'removed', id: authenticator.id },
      PATH,
    );
    expect(page.text).toContain('The passkey is removed.');
    expect(await isSignedIn(withIt)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
    const { userinfo } = flow;
    expect(await userinfo(inside.body['access_token'])).toBe(401);
    expect(await userinfo(outliving.body['access_token'])).toBe(401);
    expect((await flow.refresh('tv', outliving.body['refresh_token'])).status).toBe(400);
    expect(await userinfo(other.body['access_token'])).toBe(200);
    expect((await use(flow.browser(), authenticator)).status).toBe(422);
  });

  test("after the removal of this sign-in's passkey the page says so, and does not offer passkeys first", async () => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    await use(browser, authenticator, {}, PATH);
    const page = await browser.submit(
      await browser.open(PATH),
      { do: 'removed', id: authenticator.id },
      PATH,
    );
    expect(page.text).toContain('The passkey is removed. You had signed in with it here');
    expect(page.text).not.toContain('Use a passkey, as last time');
    const another = flow.browser();
    expect((await another.open(page.url)).text).not.toContain('is removed');
  });

  test("if a set-up of a second factor removes this sign-in's passkey, the sign-in becomes one by code", async () => {
    const { authenticator } = await aliceWithPasskey();
    const browser = flow.browser();
    const page = await use(browser, authenticator, {}, '/account/second-factor');
    const [, item = ''] = /name="item" value="([\w-]+)"/.exec(page.text) ?? [];
    const code = appFrom(page, flow)();
    expect(codesOn(await browser.submit(page, { code, item }))).toHaveLength(10);
    expect(await passkeysOf('alice')).toEqual([]);
    expect(await listSignIns(flow.store, flow.people.alice.id)).toMatchObject([
      { assurance: { acr: 'urn:countersign:acr:second-factor' } },
    ]);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    expect((await browser.open('/account')).text).not.toContain('Use a passkey, as last time');
  });

  test('the passkey of another person cannot be removed, and a missing one is reported as gone', async () => {
    const { authenticator } = await aliceWithPasskey();
    const bob = await flow.signedIn('bob');
    for (const id of [authenticator.id, 'nothing', '']) {
      const page = await bob.submit(await bob.open(PATH), { do: 'removed', id }, PATH);
      expect(page.text).toContain('This passkey was already removed.');
    }
    const renamed = { do: 'renamed', id: authenticator.id, name: 'Mine' };
    expect((await bob.submit(await bob.open(PATH), renamed, PATH)).status).toBe(422);
    expect(await passkeysOf('alice')).toMatchObject([{ name: 'Phone' }]);
  });

  test('the last way to sign in stays: two concurrent removals leave a person without a password one passkey', async () => {
    const { browser } = await aliceWithPasskey();
    const second = new Authenticator(origin());
    await make(browser, second);
    await withoutPassword();
    const page = await browser.open(PATH);
    expect(page.text).toContain('You have no password');
    const removals = (await passkeysOf('alice')).map(({ id }) =>
      browser.submit(page, { do: 'removed', id }, PATH),
    );
    const texts = (await Promise.all(removals)).map(({ text }) => text);
    expect(texts.filter((text) => text.includes('your last way to sign in'))).toHaveLength(1);
    expect(await passkeysOf('alice')).toHaveLength(1);
  });

  test('a key for HOBA is another way to sign in', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    await withoutPassword();
    const owner = { kind: 'person', id: flow.people.alice.id } as const;
    const key = { id: 'k', scheme: 'HOBA', owner, spki: 'AAAA', name: 'k', created_at: 0 } as const;
    await flow.authz.stores.publicKeys.add(key, 20);
    const removal = { do: 'removed', id: authenticator.id };
    const page = await browser.submit(await browser.open(PATH), removal, PATH);
    expect(page.text).toContain('The passkey is removed.');
  });
});

describe('passkeys stay, and their page says so', () => {
  const stays = async (authenticator: Authenticator) => {
    expect(await passkeysOf('alice')).toMatchObject([{ id: authenticator.id, name: 'Phone' }]);
    const other = flow.browser();
    expect((await use(other, authenticator)).text).toContain('alice');
    expect((await other.open(PATH)).text).toContain('A passkey works until you remove it');
  };

  test('passkeys stay after a new password that ends all other sign-ins', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    const page = await browser.open('/account/password');
    expect(page.text).toContain('Passkeys and keys stay');
    const filled = { current: PASSWORD, password: 'another correct horse' };
    const done = await browser.submit(page, filled, '/account/password');
    expect(done.text).toContain('Your password is changed.');
    await stays(authenticator);
  });

  test('passkeys stay after the end of all access', async () => {
    const { browser, authenticator } = await aliceWithPasskey();
    const page = await browser.open('/account/end');
    expect(page.text).toContain('Your password, passkeys and keys stay');
    expect((await browser.submit(page, {}, '/account')).text).toContain('Everything has ended');
    expect(await isSignedIn(browser)).toBe(false);
    await stays(authenticator);
  });
});

test('two passkeys of a person cannot have the same name, in any case (refused, and no passkey is stored)', async () => {
  const { browser } = await aliceWithPasskey();
  const page = await browser.open(PATH);
  const second = await make(browser, new Authenticator(origin()), { name: 'PHONE' });
  expect([second.status, await passkeysOf('alice')]).toEqual([422, [expect.anything()]]);
  expect(second.text).toContain('You already have a passkey with this name');
  expect(second.text).toContain('aria-invalid="true"');
  expect((await make(browser, new Authenticator(origin()), { name: 'Laptop' })).status).toBe(200);
  const laptop = (await passkeysOf('alice')).find(({ name }) => name === 'Laptop')?.id ?? '';
  const taken = { do: 'renamed', id: laptop, name: ' phone ' };
  const refused = await browser.submit(page, taken, PATH);
  expect(refused.status).toBe(422);
  expect(refused.text).not.toContain('aria-invalid="true"');
  const itself = { ...taken, name: 'LAPTOP' };
  expect((await browser.submit(page, itself, PATH)).text).toContain('LAPTOP');
});

test('before a passkey is removed the page lists what ends with it', async () => {
  const { browser, authenticator } = await aliceWithPasskey();
  const asked = await browser.open(`/account/end?end=passkey&id=${authenticator.id}`);
  expect(asked.text).toContain('Remove this passkey?');
  expect(asked.text).toContain('<strong>Phone</strong>');
  expect(await passkeysOf('alice')).toHaveLength(1);
  expect((await browser.submit(asked)).text).toContain('The passkey is removed.');
  expect(await passkeysOf('alice')).toEqual([]);
});

test('a person can rename a passkey', async () => {
  const { browser, authenticator } = await aliceWithPasskey();
  const renamed = { do: 'renamed', id: authenticator.id, name: '<b>Old phone' };
  const page = await browser.submit(await browser.open(PATH), renamed, PATH);
  expect(page.text).toContain('&lt;b&gt;Old phone');
  const empty = { ...renamed, name: '' };
  expect((await browser.submit(await browser.open(PATH), empty, PATH)).status).toBe(422);
});

test('if browsers cannot make passkeys, no page offers one, and an answer is refused', async () => {
  await using clear = await openDeviceFlow({ issuer: 'http://127.0.0.1:3000', limits });
  const browser = clear.browser();
  const page = await browser.open('/account');
  expect(page.text).not.toContain('id="passkey-button"');
  const passkey = new Authenticator('http://127.0.0.1:3000').get({ challenge: 'AAAA' });
  expect((await browser.submit(page, { passkey })).status).toBe(422);
  const alice = await clear.signedIn('alice');
  expect((await alice.open(PATH)).text).toContain('you cannot make a passkey here');
});

async function changeAlice(change: (alice: PersonRecord) => PersonRecord): Promise<void> {
  const { people } = flow.authz.stores;
  const was = await people.get(flow.people.alice.id);
  if (was === undefined) throw new Error('alice is not there');
  expect(await people.replace({ ...change(was), version: was.version + 1 })).toBe(true);
}

/** Removes alice's password, as if she had been invited and had chosen a passkey. */
const withoutPassword = () => changeAlice(({ password_hash: _gone, ...alice }) => alice);
