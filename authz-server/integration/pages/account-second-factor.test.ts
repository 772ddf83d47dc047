import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { somePasskey, somePerson, somePublicKey } from '#shared/stores/contract/samples.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { appFrom, codesOn, stepOn, usesCode, withSecondFactor } from '../second-factor.fixture.ts';
import { PASSWORD, testSite, type TestSite } from '../site.fixture.ts';

const PATH = '/account/second-factor';
const AGAIN = 'Sign in once more before you change how you sign in';

let clock: ManualClock;
let site: TestSite;
beforeEach(async () => {
  // The engine uses the system's clock.
  clock = new ManualClock(Date.now());
  site = await testSite({}, clock);
});
afterEach(async () => site[Symbol.asyncDispose]());

const idOf = async (name: string) => (await site.server.stores.people.getByName(name))?.id ?? '';
const factorOf = async (name: string) => site.server.stores.secondFactors.get(await idOf(name));
async function signedIn(name = 'alice', more: Record<string, string> = {}): Promise<TestBrowser> {
  const browser = site.browser();
  const page = await browser.submit(await browser.open('/account'), { name, password: PASSWORD });
  if (Object.keys(more).length > 0) await browser.submit(page, more);
  return browser;
}
const change = (browser: TestBrowser, page: Page, fields: Record<string, string>) => {
  const [csrf = ''] = page.forms.flatMap(({ fields: own }) =>
    own.flatMap(([name, value]) => (name === 'csrf' ? value : [])),
  );
  return browser.request('POST', PATH, new URLSearchParams({ csrf, ...fields }));
};

describe('the set-up of a second factor', () => {
  test('the set-up shows the secret, is confirmed by a code and shows ten codes once, and the browser stays signed in', async () => {
    const [browser, other] = [await signedIn(), await signedIn()];
    const account = await browser.open('/account');
    expect(account.text).toContain(`href="${PATH}"`);
    const page = await browser.open(PATH);
    expect(page.text).toContain('<svg');
    expect(await factorOf('alice')).toBeUndefined();
    const shown = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(codesOn(shown)).toHaveLength(10);
    expect((await browser.open('/account')).text).toContain('Signed in as');
    expect((await other.open('/account')).text).toContain('type="password"');
    expect(await listSignIns(site.server, await idOf('alice'))).toMatchObject([
      { assurance: { acr: 'urn:countersign:acr:second-factor' } },
    ]);
    const again = await browser.open(PATH);
    expect(again.text).toContain('10 recovery codes are left');
    expect((await browser.open('/account')).text).toContain('10 recovery codes are left');
    expect(codesOn(again)).toEqual([]);
  });

  test('a wrong code changes nothing, and the page shows the same secret', async () => {
    const browser = await signedIn();
    const page = await browser.open(PATH);
    const wrong = await browser.submit(page, { code: '000000' });
    expect(wrong.status).toBe(422);
    expect(await factorOf('alice')).toBeUndefined();
    expect(appFrom(wrong, site.server)()).toBe(appFrom(page, site.server)());
    const done = await browser.submit(wrong, { code: appFrom(wrong, site.server)() });
    expect(codesOn(done)).toHaveLength(10);
  });

  test('a set-up for another person, or with the state of another page, is refused', async () => {
    const [alice, bob] = [await signedIn('alice'), await signedIn('bob')];
    const [hers, his] = [await alice.open(PATH), await bob.open(PATH)];
    for (const step of [stepOn(his) ?? '', '', 'x']) {
      const code = appFrom(his, site.server)();
      expect((await alice.submit(hers, { step, code })).text).toContain('This page is too old');
    }
    expect([await factorOf('alice'), await factorOf('bob')]).toEqual([undefined, undefined]);
  });

  test('the form of a person who was signed in here before is refused', async () => {
    const browser = await signedIn('bob');
    const his = await browser.open(PATH);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    await browser.submit(await browser.open('/account'), { name: 'alice', password: PASSWORD });
    const refused = await browser.submit(his, { code: appFrom(his, site.server)() });
    expect(refused.text).toContain('This page is too old');
    expect(await factorOf('alice')).toBeUndefined();
  });

  test('if two pages set up a second factor, the later one changes nothing', async () => {
    const browser = await signedIn();
    const [one, other] = [await browser.open(PATH), await browser.open(PATH)];
    await browser.submit(one, { code: appFrom(one, site.server)() });
    const before = await factorOf('alice');
    await browser.submit(other, { code: appFrom(other, site.server)() });
    expect(await factorOf('alice')).toEqual(before);
  });
});

describe('an attacker who knew the password has added a passkey and a key', () => {
  /** Returns alice's page of the set-up. */
  async function planted() {
    const id = await idOf('alice');
    const { passkeys, publicKeys } = site.server.stores;
    const plant = async (name: string) => {
      const passkey = { ...somePasskey(`${name} passkey`), accountId: id, name: `${name} passkey` };
      const owner = { kind: 'person', id } as const;
      const key = { ...somePublicKey(`${name} key`), owner, name: `${name} key` };
      expect(await passkeys.add(passkey, 20)).toBe('added');
      expect(await publicKeys.add(key, 20)).toBe('added');
    };
    await plant('own');
    await plant('planted');
    const browser = await signedIn();
    const page = await browser.open(PATH);
    const left = async () => [
      ...(await passkeys.of(id)).map(({ name }) => name),
      ...(await publicKeys.of({ kind: 'person', id })).map(({ name }) => name),
    ];
    return { id, browser, page, plant, left };
  }
  const ALL = ['own passkey', 'planted passkey', 'own key', 'planted key'];

  /** Returns the items whose boxes have this name in their labels. */
  const itemsOf = ({ text }: Page, name: string) =>
    [...text.matchAll(/name="item" value="([\w-]+)"[^>]*>\s*<span>([^<]*)/g)].flatMap(
      ([, item = '', label = '']) => (label.includes(name) ? [item] : []),
    );

  test('the set-up lists passkeys and keys, says why, and removes those that are ticked', async () => {
    const { browser, page, left } = await planted();
    expect(page.text).toContain('another person may have added one');
    for (const name of ALL) expect(itemsOf(page, name)).toHaveLength(1);
    const code = appFrom(page, site.server)();
    const shown = await browser.submit(page, { code, item: itemsOf(page, 'planted') });
    expect(codesOn(shown)).toHaveLength(10);
    expect(await left()).toEqual(['own passkey', 'own key']);
  });

  test("passkeys and keys stay if none is ticked, or if the ticked ones are unknown or another person's", async () => {
    const { browser, page, left } = await planted();
    const bobs = { ...somePasskey('of bob'), accountId: await idOf('bob'), name: 'of bob' };
    await site.server.stores.passkeys.add(bobs, 20);
    const bob = await signedIn('bob');
    const item = [...itemsOf(await bob.open(PATH), 'of bob'), '', '__proto__', 'x'.repeat(900)];
    await browser.submit(page, { code: appFrom(page, site.server)(), item });
    expect(await left()).toEqual(ALL);
    expect(await site.server.stores.passkeys.get('of bob')).toBeDefined();
  });

  test('a wrong code removes nothing, and the ticked boxes stay ticked', async () => {
    const { browser, page, left } = await planted();
    const [item = ''] = itemsOf(page, 'planted key');
    const wrong = await browser.submit(page, { code: '000000', item });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(new RegExp(`value="${item}"\\s+checked`));
    expect(await left()).toEqual(ALL);
  });

  test('a key that is added while the page is open must be shown before the set-up', async () => {
    const { browser, page, plant, left } = await planted();
    await plant('late');
    const again = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect([again.status, again.text]).toEqual([
      422,
      expect.stringContaining('was added or removed'),
    ]);
    expect(await factorOf('alice')).toBeUndefined();
    const item = [...itemsOf(again, 'planted'), ...itemsOf(again, 'late')];
    const code = appFrom(again, site.server)();
    expect(codesOn(await browser.submit(again, { code, item }))).toHaveLength(10);
    expect(await left()).toEqual(['own passkey', 'own key']);
  });

  test('a key that is added at the moment of the set-up is removed', async () => {
    const { browser, page, plant, left } = await planted();
    const { secondFactors } = site.server.stores;
    const { setUp } = secondFactors;
    Object.assign(secondFactors, {
      setUp: async (...set: Parameters<typeof setUp>) => {
        await plant('late');
        return setUp(...set);
      },
    });
    const item = itemsOf(page, 'planted');
    const shown = await browser.submit(page, { code: appFrom(page, site.server)(), item });
    expect(codesOn(shown)).toHaveLength(10);
    expect(await left()).toEqual(['own passkey', 'own key']);
  });

  test('a person without a password keeps the last passkey', async () => {
    const { id, browser, page, left } = await planted();
    const { people } = site.server.stores;
    const { password_hash: _none, ...person } = (await people.get(id)) ?? somePerson('x');
    await people.replace({ ...person, version: person.version + 1 });
    const item = [...itemsOf(page, 'own'), ...itemsOf(page, 'planted')];
    await browser.submit(page, { code: appFrom(page, site.server)(), item });
    expect(await left()).toHaveLength(1);
  });

  test('the set-up during a sign-in lists keys, too', async () => {
    await site[Symbol.asyncDispose]();
    site = await testSite({ people: { secondFactor: 'required' } }, clock);
    const id = await idOf('alice');
    const { publicKeys } = site.server.stores;
    const owner = { kind: 'person', id } as const;
    await publicKeys.add({ ...somePublicKey('planted'), owner, name: 'planted' }, 20);
    const browser = site.browser();
    const form = await browser.open('/account');
    const page = await browser.submit(form, { name: 'alice', password: PASSWORD });
    const item = itemsOf(page, 'planted');
    await browser.submit(page, { code: appFrom(page, site.server)(), item });
    expect(await publicKeys.of(owner)).toEqual([]);
    expect(await factorOf('alice')).toBeDefined();
  });
});

describe('changes of a second factor', () => {
  /** Returns alice, who has a second factor and is signed in with it. */
  async function alice() {
    const { id, code, codes } = await withSecondFactor(site.server, 'alice');
    return { id, code, codes, browser: await signedIn('alice', { code: code() }) };
  }

  test('new recovery codes replace all others', async () => {
    const { id, codes, browser } = await alice();
    const page = await browser.open(PATH);
    const shown = await change(browser, page, { change: 'renew' });
    const renewed = codesOn(shown);
    expect(renewed).toHaveLength(10);
    expect(await usesCode(site.server, id, codes[0] ?? '')).toBe(false);
    expect(await usesCode(site.server, id, renewed[0] ?? '')).toBe(true);
  });

  test('when the page of the codes is loaded again later, it says that they were shown once', async () => {
    const browser = await signedIn();
    const page = await browser.open(PATH);
    const code = appFrom(page, site.server)();
    expect(codesOn(await browser.submit(page, { code }))).toHaveLength(10);
    clock.advance(31);
    const again = await browser.submit(page, { code });
    expect(again.status).toBe(200);
    expect(again.text).toContain('Your recovery codes were shown once');
    expect(again.text).toContain('value="renew"');
    expect(codesOn(again)).toEqual([]);
  });

  test('if ten renewals come at the same time, the codes of one page work', async () => {
    const { id, browser } = await alice();
    const page = await browser.open(PATH);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => change(browser, page, { change: 'renew' })),
    );
    const last = (await factorOf('alice'))?.recovery;
    expect(last).toHaveLength(10);
    const works = await Promise.all(
      answers.map(async (answer) => {
        const [, code = ''] = codesOn(answer);
        return code !== '' && usesCode(site.server, id, code);
      }),
    );
    expect(works.filter((right) => right)).toHaveLength(1);
    for (const answer of answers.filter((one) => codesOn(one).length === 0)) {
      expect(answer.text).toContain('Your recovery codes were shown once');
    }
  });

  test('another app replaces the present one, which is valid until then', async () => {
    await site[Symbol.asyncDispose]();
    site = await testSite({ people: { secondFactor: 'required' } }, clock);
    const { id, code, codes, browser } = await alice();
    const before = await factorOf('alice');
    const page = await change(browser, await browser.open(PATH), { change: 'another' });
    expect(page.text).toContain('Your present app works until');
    const next = appFrom(page, site.server);
    const wrong = await browser.submit(page, { code: code(1) });
    expect(wrong.status).toBe(422);
    expect(await factorOf('alice')).toEqual(before);
    const shown = await browser.submit(wrong, { code: next() });
    expect(codesOn(shown)).toHaveLength(10);
    expect((await factorOf('alice'))?.id).not.toBe(before?.id);
    expect(await usesCode(site.server, id, codes[0] ?? '')).toBe(false);
    expect(await usesCode(site.server, id, code(1))).toBe(false);
    expect(await usesCode(site.server, id, next(1))).toBe(true);
    expect((await browser.open('/account')).text).toContain('Signed in as');
  });

  test('a step for another app does not replace a second factor that was set up later', async () => {
    const { id, browser } = await alice();
    const page = await change(browser, await browser.open(PATH), { change: 'another' });
    await site.server.stores.secondFactors.remove(id);
    await withSecondFactor(site.server, 'alice');
    const since = await factorOf('alice');
    const late = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(late.text).toContain('This page is too old');
    expect(await factorOf('alice')).toEqual(since);
  });

  test('after the removal of a second factor the password is enough', async () => {
    const { browser } = await alice();
    const removed = await change(browser, await browser.open(PATH), { change: 'remove' });
    expect(removed.text).toContain('The second factor is removed');
    expect(await factorOf('alice')).toBeUndefined();
    expect((await (await signedIn()).open('/account')).text).toContain('Signed in as');
  });

  test('the page does not mention a password to a person who has none', async () => {
    const { id, browser } = await alice();
    const { people } = site.server.stores;
    const { password_hash: _none, ...person } = (await people.get(id)) ?? somePerson('x');
    await people.replace({ ...person, version: person.version + 1 });
    const page = await browser.open(PATH);
    expect(page.text).toContain('You have no password');
    expect(page.text).not.toContain('your password alone');
  });

  test('a required second factor cannot be removed', async () => {
    await site[Symbol.asyncDispose]();
    site = await testSite({ people: { secondFactor: 'required' } }, clock);
    const { browser } = await alice();
    const page = await browser.open(PATH);
    expect(page.text).not.toContain('value="remove"');
    // Sends the form of a page that was opened earlier.
    const refused = await change(browser, page, { change: 'remove' });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('this server requires it');
    expect(await factorOf('alice')).toBeDefined();
  });

  test.each(['', 'everything', '__proto__'])('the change %j gets 400', async (what) => {
    const { browser } = await alice();
    const page = await browser.open(PATH);
    expect((await change(browser, page, { change: what })).status).toBe(400);
    expect(await factorOf('alice')).toBeDefined();
  });
});

describe('a stolen session', () => {
  test('after five minutes a stolen session is asked for another sign-in, which leads back', async () => {
    const browser = await signedIn();
    const page = await browser.open(PATH);
    clock.advance(301);
    expect((await browser.open(PATH)).text).toContain(AGAIN);
    const late = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(late.text).toContain(AGAIN);
    expect(await factorOf('alice')).toBeUndefined();
    const back = await browser.submit(late, { password: PASSWORD }, '/sign-in');
    expect(back.url).toContain(PATH);
    expect(back.text).toContain('<svg');
  });

  test('after five minutes a stolen session can neither remove the second factor nor make codes', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = await signedIn('alice', { code: code() });
    const page = await browser.open(PATH);
    const before = await factorOf('alice');
    clock.advance(301);
    for (const what of ['remove', 'renew', 'another']) {
      expect((await change(browser, page, { change: what })).text).toContain(AGAIN);
    }
    expect(await factorOf('alice')).toEqual(before);
  });

  test('a session from before the set-up changes nothing, even if it is new', async () => {
    const browser = await signedIn();
    const page = await browser.open(PATH);
    await withSecondFactor(site.server, 'alice');
    const before = await factorOf('alice');
    for (const what of ['remove', 'renew', 'another']) {
      expect((await change(browser, page, { change: what })).text).toContain(AGAIN);
    }
    expect(await factorOf('alice')).toEqual(before);
  });

  test('a stolen session gets no link for a key, with which a browser would need no code', async () => {
    await site[Symbol.asyncDispose]();
    const space = { url: 'https://api.example/hoba/', realm: 'hoba', schemes: ['HOBA'] };
    site = await testSite({ spaces: [space] }, clock);
    const browser = await signedIn();
    const page = await browser.open('/account/end');
    clock.advance(301);
    const [csrf = ''] = page.forms.flatMap(({ fields }) =>
      fields.flatMap(([name, value]) => (name === 'csrf' ? value : [])),
    );
    const form = new URLSearchParams({ csrf, origin: 'https://api.example' });
    expect((await browser.request('POST', '/account/key', form)).text).toContain(AGAIN);
  });
});

describe('requests of other sites', () => {
  test.each(['set-up', 'renew', 'remove'])(
    'the form %s without its proof is refused',
    async (what) => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const browser = await signedIn('alice', { code: code() });
      const before = await factorOf('alice');
      for (const csrf of ['', 'x']) {
        const form = new URLSearchParams({ csrf, change: what });
        expect((await browser.request('POST', PATH, form)).status).toBe(403);
      }
      const own = await browser.open(PATH);
      const [token = ''] = own.forms.flatMap(({ fields }) =>
        fields.flatMap(([name, value]) => (name === 'csrf' ? value : [])),
      );
      const form = new URLSearchParams({ csrf: token, change: what });
      const origin = { origin: 'https://evil.example' };
      expect((await browser.request('POST', PATH, form, origin)).status).toBe(403);
      expect(await factorOf('alice')).toEqual(before);
    },
  );
});

test('without a sign-in the page is not shown', async () => {
  const page = await site.browser().open(PATH);
  expect(page.text).toContain('type="password"');
  expect(page.text).not.toContain('<code>');
});
