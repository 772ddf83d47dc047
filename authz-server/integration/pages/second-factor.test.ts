import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { changePassword } from '#shared/people/change-password.ts';
import { disablePerson } from '#shared/people/people.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import { Authenticator, optionsIn } from '../authenticator.fixture.ts';
import type { Changes, Page } from '../browser.fixture.ts';
import {
  appFrom,
  codesOn,
  forgedStep,
  stepOn,
  usesCode,
  withSecondFactor,
} from '../second-factor.fixture.ts';
import { answerIn, claimsOf, PASSWORD, testSite, type TestSite } from '../site.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

const ALICE = { name: 'alice', password: PASSWORD };
const BOB = { name: 'bob', password: PASSWORD };
const SECOND_FACTOR = 'urn:countersign:acr:second-factor';

let clock: ManualClock;
let site: TestSite;
const open = async (settings: object = {}) => (site = await testSite({ ...settings }, clock));
beforeEach(async () => {
  // The engine uses the system's clock.
  clock = new ManualClock(Date.now());
  await open();
});
afterEach(async () => site[Symbol.asyncDispose]());

/** Closes the site of the test and opens one with other settings. */
async function reopen(settings: object): Promise<void> {
  await site[Symbol.asyncDispose]();
  await open(settings);
}

type Browser = ReturnType<TestSite['browser']>;
/** A method of a store. */
type Verb = (...args: readonly unknown[]) => unknown;
const SESSION = 'countersign-session';
const hasSession = (browser: Browser) => browser.cookies.some(({ name }) => name === SESSION);
const signInsOf = async (name: string) => {
  const { id = '' } = (await site.server.stores.people.getByName(name)) ?? {};
  return listSignIns(site.server, id);
};

/** Returns the page after the password: the second step, at `/sign-in`. */
async function afterPassword(browser: Browser, who = ALICE): Promise<Page> {
  return browser.submit(await browser.open('/account'), who, '/sign-in');
}

describe('a sign-in after the right password', () => {
  test('the page asks for a code, and before it there is no session, no known browser and no row in the store', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    expect(page.status).toBe(200);
    expect(page.text).toContain('autocomplete="one-time-code"');
    expect(browser.cookies.map(({ name }) => name)).toEqual([
      'countersign-csrf',
      'countersign-csrf.sig',
    ]);
    expect(await signInsOf('alice')).toEqual([]);
    expect((await browser.open('/account')).text).toContain('type="password"');
    const done = await browser.submit(page, { code: code() });
    expect(done.text).toContain('Signed in as');
    expect(await signInsOf('alice')).toMatchObject([
      { assurance: { acr: SECOND_FACTOR, amr: ['pwd', 'otp', 'mfa'] } },
    ]);
    expect(browser.cookies.map(({ name }) => name)).toContain('countersign-known');
  });

  test('people without a second factor sign in as before', async () => {
    await withSecondFactor(site.server, 'alice');
    expect((await afterPassword(site.browser(), BOB)).text).toContain('Signed in as');
  });

  test('a wrong password gets the same answer, whoever has a second factor', async () => {
    await withSecondFactor(site.server, 'alice');
    const answers = await Promise.all(
      ['alice', 'bob', 'nobody'].map(async (name) => {
        const browser = site.browser();
        const { status, text, forms } = await afterPassword(browser, { name, password: 'wrong' });
        const csrf = forms[0]?.fields.find(([field]) => field === 'csrf')?.[1] ?? '';
        const masked = text
          .replaceAll(csrf, '')
          .replaceAll(`value="${name}"`, '')
          .replaceAll(/data-options="[^"]*"/g, '');
        return [status, masked];
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test('a recovery code works once', async () => {
    const { codes } = await withSecondFactor(site.server, 'alice');
    const [recovery = ''] = codes;
    const first = site.browser();
    const done = await first.submit(await afterPassword(first), {
      recovery: recovery.toLowerCase(),
    });
    expect(done.text).toContain('Signed in as');
    // A recovery code is no one-time password in the sense of RFC 8176 section 2.
    expect(await signInsOf('alice')).toMatchObject([
      { assurance: { acr: SECOND_FACTOR, amr: ['pwd', 'mfa'] } },
    ]);
    expect(done.text).toContain('a password and a recovery code');
    const second = site.browser();
    const again = await second.submit(await afterPassword(second), { recovery });
    expect(again.status).toBe(422);
    expect(hasSession(second)).toBe(false);
  });

  test('with `off` no person is asked for a code', async () => {
    await reopen({ people: { secondFactor: 'off' } });
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    expect((await afterPassword(browser)).text).toContain('Signed in as');
    expect((await browser.open('/account/second-factor')).status).toBe(404);
    expect((await browser.open('/account')).text).not.toContain('/account/second-factor');
  });
});

describe('attacks on the second step', () => {
  test.each<readonly [string, Changes]>([
    ['no code', {}],
    ['an empty code', { code: '' }],
    ['a guess', { code: '000000', recovery: '' }],
    ['a code of two minutes ago', { code: 'early' }],
    ['a code of two minutes from now', { code: 'late' }],
    ['a code of somebody else', { code: 'bob' }],
    ['a recovery code of somebody else', { recovery: 'bob' }],
    ['a long text', { code: 'x'.repeat(9000) }],
  ])(
    'a step with %s is refused, and the right code, also of a neighbouring time step, works afterwards',
    async (_what, given) => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const bob = await withSecondFactor(site.server, 'bob');
      const meant: Readonly<Record<string, string>> = {
        early: code(-4),
        late: code(4),
        bob: given['code'] === 'bob' ? bob.code() : (bob.codes[0] ?? ''),
      };
      const changes = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, meant[String(value)] ?? value]),
      );
      const browser = site.browser();
      const refused = await browser.submit(await afterPassword(browser), changes);
      expect(refused.status).toBe(422);
      expect(refused.text).toMatch(/The code is wrong|This recovery code is wrong/);
      expect(hasSession(browser)).toBe(false);
      expect((await browser.submit(refused, { code: code(1) })).text).toContain('Signed in as');
    },
  );

  test('a repeated field gets 400', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    expect((await browser.submit(page, { code: [code(), '000000'] })).status).toBe(400);
    expect((await browser.submit(page, { step: [stepOn(page) ?? '', 'x'] })).status).toBe(400);
    expect(hasSession(browser)).toBe(false);
  });

  test('RFC 6238 section 5.2: a used code is refused in any browser', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const [first, second] = [site.browser(), site.browser()];
    const [one, other] = [await afterPassword(first), await afterPassword(second)];
    expect((await first.submit(one, { code: code() })).text).toContain('Signed in as');
    expect((await second.submit(other, { code: code() })).status).toBe(422);
    expect(hasSession(second)).toBe(false);
  });

  test('if ten forms with one code come at the same time, one person signs in', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browsers = Array.from({ length: 5 }, () => site.browser());
    const pages = await Promise.all(browsers.map((one) => afterPassword(one)));
    const answers = await Promise.all(
      browsers.flatMap((one, n) => {
        const page = pages[n] as Page;
        return [one.send(page, { code: code() }), one.send(page, { code: code() })];
      }),
    );
    // The two equal forms of one browser get the same answer.
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(2);
    expect(await signInsOf('alice')).toHaveLength(1);
  });

  test('if several right codes come for one step, one is used, and the others stay unused', async () => {
    const { id, code, codes } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    const shown = codes.slice(0, 9).map((recovery) => ({ recovery }));
    const answers = await Promise.all(shown.map((one) => browser.send(page, one)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await signInsOf('alice')).toHaveLength(1);
    expect((await site.server.stores.secondFactors.get(id))?.recovery).toHaveLength(9);
    for (const late of [{ recovery: codes[9] ?? '' }, { code: code() }]) {
      const refused = await browser.submit(page, late);
      expect(refused.text).toContain('The second step took too long, or was done already');
    }
    expect(await usesCode(site.server, id, codes[9] ?? '')).toBe(true);
    expect(await usesCode(site.server, id, code())).toBe(true);
  });

  test('without the first step, or with a forged one, there is no second step', async () => {
    const { id, code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await browser.open('/account');
    const state = { id: 'x', at: clock.now(), accountId: id, name: 'alice', generation: 0 };
    for (const step of ['', 'x', 'x'.repeat(9000), forgedStep('/sign-in', state)]) {
      const refused = await browser.submit(page, { step, code: code(), ...ALICE });
      expect(refused.text).toContain('Start again with name and password');
    }
    expect(hasSession(browser)).toBe(false);
  });

  test('the step of another browser, interaction or page is refused', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const [mine, theirs] = [site.browser(), site.browser()];
    const step = stepOn(await afterPassword(mine));
    const elsewhere = await theirs.open('/account');
    const asked = await mine.open(site.authorize());
    for (const [browser, page] of [
      [theirs, elsewhere],
      [mine, asked],
    ] as const) {
      const refused = await browser.submit(page, { step, code: code() });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Start again with name and password');
    }
    expect([hasSession(mine), hasSession(theirs)]).toEqual([false, false]);
  });

  test('after five minutes the step is refused', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    clock.advance(300);
    const late = await browser.submit(page, { code: code() });
    expect(late.text).toContain('Start again with name and password');
    expect(hasSession(browser)).toBe(false);
  });

  test('a wrong code does not extend the time of the step', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    clock.advance(290);
    const again = await browser.submit(page, { code: '000000' });
    clock.advance(10);
    expect((await browser.submit(again, { code: code() })).text).toContain('Start again');
  });

  test('if all access of the person ends or the person is disabled in between, the step starts no session', async () => {
    const { id, code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    await endEverything(site.server, id);
    await browser.submit(page, { code: code() });
    expect((await browser.open('/account')).text).toContain('type="password"');
    const next = await afterPassword(browser);
    await disablePerson(site.server, 'alice');
    expect((await browser.submit(next, { code: code(1) })).text).toContain('Start again');
  });

  test('a password that was changed meanwhile ends the step, even if no sign-in ends', async () => {
    const { id, code, codes } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    const seen = await site.server.stores.people.get(id);
    if (seen === undefined) throw new Error('nobody');
    await changePassword(site.server, seen, 'another horse, another battery');
    expect(await site.server.stores.revocations.generation('person', id)).toBe(0);
    for (const shown of [{ code: code() }, { recovery: codes[0] ?? '' }]) {
      expect((await browser.submit(page, shown)).text).toContain('Start again');
    }
    expect(hasSession(browser)).toBe(false);
    expect(await usesCode(site.server, id, codes[0] ?? '')).toBe(true);
  });

  test.each([-3600, 600])(
    'a clock that jumps by %d seconds ends the step and uses up no code',
    async (jump) => {
      const { id, codes } = await withSecondFactor(site.server, 'alice');
      const browser = site.browser();
      const page = await afterPassword(browser);
      clock.advance(jump);
      const refused = await browser.submit(page, { recovery: codes[0] ?? '' });
      expect(refused.text).toContain('Start again');
      expect(hasSession(browser)).toBe(false);
      clock.advance(-jump);
      expect(await usesCode(site.server, id, codes[0] ?? '')).toBe(true);
    },
  );

  test.each(['replay', 'secondFactors', 'limits'] as const)(
    "if the store's %s do not answer, the answer is 503, no code is used up, and the next step works",
    async (part) => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const browser = site.browser();
      const page = await afterPassword(browser);
      const stores = site.server.stores as unknown as Record<string, unknown>;
      const answering = stores[part];
      const silent = () => Promise.reject(new StoreUnavailable('it is paused'));
      Object.assign(stores, { [part]: new Proxy({}, { get: () => silent }) });
      const refused = await browser.send(page, { code: code() });
      Object.assign(stores, { [part]: answering });
      expect(refused.status).toBe(503);
      expect(hasSession(browser)).toBe(false);
      expect(await signInsOf('alice')).toEqual([]);
      const again = await afterPassword(browser);
      expect((await browser.submit(again, { code: code() })).text).toContain('Signed in as');
    },
  );

  test.each([
    ['replay', 'unique'],
    ['secondFactors', 'useStep'],
  ] as const)(
    'if the answer of %s.%s is lost or late, no unused code is called wrong',
    async (part, verb) => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const stores = site.server.stores as unknown as Record<string, Record<string, Verb>>;
      const answering = stores[part] ?? {};
      const write: Verb = (...args) => answering[verb]?.(...args);
      const lost: Verb = async (...args) => {
        await write(...args);
        throw new StoreUnavailable('its answer is lost');
      };
      const browser = site.browser();
      const page = await afterPassword(browser);
      stores[part] = { ...answering, [verb]: lost };
      expect((await browser.send(page, { code: code() })).status).toBe(503);
      stores[part] = answering;
      // The browser sends the form again. The step is over, and the message is not the one for a wrong code.
      const again = await browser.submit(page, { code: code() });
      expect(again.text).toContain('Start again');
      expect(again.text).not.toContain('The code is wrong');
      // The next step accepts the code unless it was recorded as used; then it accepts the next code.
      const next = await afterPassword(browser);
      const taken = await browser.submit(next, { code: code(part === 'replay' ? 0 : 1) });
      expect(taken.text).toContain('Signed in as');

      // Both requests with one form arrive before either is answered.
      const late: Verb = async (...args) => {
        const result = await write(...args);
        await new Promise(setImmediate);
        return result;
      };
      clock.advance(90);
      const other = site.browser();
      const form = await afterPassword(other);
      const shown = { code: code() };
      stores[part] = { ...answering, [verb]: late };
      const answers = await Promise.all([other.send(form, shown), other.send(form, shown)]);
      stores[part] = answering;
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 303]);
    },
  );

  test('a wrong recovery code has its own message, and its field stays open', async () => {
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const page = await afterPassword(browser);
    expect(page.text).not.toContain('<details open');
    for (const recovery of ['00000-00000', 'what was it?']) {
      const refused = await browser.submit(page, { recovery });
      expect(refused.text).toContain('This recovery code is wrong');
    }
    const wrong = await browser.submit(page, { recovery: '00000-00000' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('<details open');
    expect(wrong.text).not.toContain('The code is wrong');
    const other = await browser.submit(wrong, { recovery: '', code: '000000' });
    expect(other.text).not.toContain('<details open');
  });

  test('the page leads back to name and password', async () => {
    await withSecondFactor(site.server, 'alice');
    for (const path of ['/account', site.authorize()]) {
      const browser = site.browser();
      const asked = await browser.open(path);
      const page = await browser.submit(asked, ALICE);
      const [, href = ''] = /href="([^"]*)">Back to name and password/.exec(page.text) ?? [];
      const back = await browser.open(href);
      expect(back.text).toContain('type="password"');
      expect(back.url).toContain(new URL(asked.url, 'https://x').pathname);
    }
  });

  test('a person has few guesses in all browsers together, and a right code gives its own attempt back', async () => {
    await reopen({ limits: { secondFactor: { burst: 3, per: 3600 } } });
    const { code } = await withSecondFactor(site.server, 'alice');
    const statuses: number[] = [];
    const guess = async (given: string) => {
      const browser = site.browser();
      const page = await afterPassword(browser);
      statuses.push((await browser.send(page, { code: given })).status);
    };
    for (const given of ['000000', code(-1), code(), code(1), '000001', '000002']) {
      await guess(given);
    }
    clock.advance(30);
    await guess(code(1));
    expect(statuses).toEqual([422, 303, 303, 303, 422, 422, 429]);
    // Other people can still sign in.
    expect((await afterPassword(site.browser(), BOB)).text).toContain('Signed in as');
  });

  describe('an attacker who knows the password and guesses codes', () => {
    const RATE = { burst: 3, per: 3600 };
    const leave = async (browser: Browser) =>
      browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    /** Guesses alice's codes in new browsers until no attempts are left. */
    async function emptied(): Promise<void> {
      const browser = site.browser();
      const page = await afterPassword(browser);
      let refused = await browser.send(page, { code: '000000' });
      while (refused.status === 422) refused = await browser.send(page, { code: '000000' });
      expect(refused.status).toBe(429);
    }
    beforeEach(() => reopen({ limits: { secondFactor: RATE } }));

    test('an attacker does not block the person in a browser where the person used a code before', async () => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const own = site.browser();
      await own.submit(await afterPassword(own), { code: code(-1) });
      await leave(own);
      await emptied();
      const page = await afterPassword(own);
      expect((await own.submit(page, { code: code() })).text).toContain('Signed in as');
    });

    test('an attacker does not block the person in a new browser, where the person has a recovery code', async () => {
      const { code, codes } = await withSecondFactor(site.server, 'alice');
      await emptied();
      const browser = site.browser();
      const page = await afterPassword(browser);
      expect((await browser.send(page, { code: code() })).status).toBe(429);
      for (let n = 0; n < 5; n += 1) {
        expect((await browser.send(page, { recovery: '00000-00000' })).status).toBe(422);
      }
      const done = await browser.submit(page, { recovery: codes[0] ?? '' });
      expect(done.text).toContain('Signed in as');
    });

    test("an attacker does not block the person's set-up, since its secret is on the page", async () => {
      await reopen({ limits: { secondFactor: RATE }, people: { secondFactor: 'required' } });
      const theirs = site.browser();
      const page = await afterPassword(theirs);
      for (let n = 0; n < 9; n += 1) {
        expect((await theirs.send(page, { code: '000000' })).status).toBe(422);
      }
      const browser = site.browser();
      const asked = await afterPassword(browser);
      const done = await browser.submit(asked, { code: appFrom(asked, site.server)() });
      expect(codesOn(done)).toHaveLength(10);
    });

    test.each<[string, (browser: Browser) => Promise<unknown>]>([
      [
        'another person used their code',
        async (browser) => {
          const { code } = await withSecondFactor(site.server, 'bob');
          await browser.submit(await afterPassword(browser, BOB), { code: code() });
        },
      ],
      ['the person signed in by the password alone', (browser) => afterPassword(browser)],
      [
        'the person used an earlier second factor',
        async (browser) => {
          const { id, code } = await withSecondFactor(site.server, 'alice');
          await browser.submit(await afterPassword(browser), { code: code() });
          await site.server.stores.secondFactors.remove(id);
        },
      ],
      [
        'somebody made the cookie up',
        async (browser) => {
          const line = 'countersign-known=id.mark; path=/';
          browser.plant({ cookies: [{ name: 'countersign-known', line }] });
        },
      ],
    ])('an attacker gets no more attempts with a browser in which %s', async (_what, before) => {
      const browser = site.browser();
      await before(browser);
      if (hasSession(browser)) await leave(browser);
      await withSecondFactor(site.server, 'alice');
      await emptied();
      const page = await afterPassword(browser);
      expect((await browser.send(page, { code: '000000' })).status).toBe(429);
    });

    test('an attacker has as many attempts in all browsers of the person together as in one', async () => {
      const { code } = await withSecondFactor(site.server, 'alice');
      const browsers = [site.browser(), site.browser()];
      for (const [n, browser] of browsers.entries()) {
        await browser.submit(await afterPassword(browser), { code: code(n) });
        await leave(browser);
      }
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1) {
        const browser = browsers[n % 2] as Browser;
        statuses.push(
          (await browser.send(await afterPassword(browser), { code: '000000' })).status,
        );
      }
      expect(statuses).toEqual([422, 422, 422, 429]);
    });

    test('an attacker has few attempts over days, however long the pauses between them are', async () => {
      await reopen({ limits: { secondFactor: { burst: 2, per: 10 } } });
      await withSecondFactor(site.server, 'alice');
      let tries = 0;
      const browser = site.browser();
      for (let page = await afterPassword(browser), n = 0; n < 60; n += 1) {
        clock.advance(10);
        if (n % 25 === 24) page = await afterPassword(browser);
        if ((await browser.send(page, { code: '000000' })).status === 422) tries += 1;
      }
      // 20 attempts at once, and one more every 240 seconds.
      expect(tries).toBeGreaterThanOrEqual(20);
      expect(tries).toBeLessThanOrEqual(23);
    });
  });

  test('a right password gives its attempt back only after the last step', async () => {
    await reopen({ limits: { account: { burst: 3, per: 3600 } } });
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const form = await browser.open('/account');
    await browser.send(form, ALICE);
    const page = await browser.send(form, ALICE);
    await browser.submit(page, { code: code() });
    const fresh = site.browser();
    const theirs = await fresh.open('/account');
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await fresh.send(theirs, ALICE)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('a sign-in with a second factor for a client', () => {
  test('the sign-in has the same two steps, and the client learns of both', async () => {
    const { code } = await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const page = await browser.submit(asked, ALICE);
    expect(page.text).toContain('autocomplete="one-time-code"');
    expect(page.text).toContain('Web &amp; &lt;b&gt;App&lt;/b&gt;');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self';");
    const consent = await browser.submit(page, { code: code() });
    const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
    for (const token of ['access_token', 'id_token']) {
      expect(claimsOf(tokens[token])).toMatchObject({
        acr: SECOND_FACTOR,
        amr: ['pwd', 'otp', 'mfa'],
      });
    }
  });

  test('a person who gives up returns to the client', async () => {
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const page = await browser.submit(asked, ALICE);
    const { action = '' } = page.forms.find((one) => one.action.endsWith('/abort')) ?? {};
    expect(answerIn(await browser.submit(page, {}, action)).get('error')).toBe('access_denied');
  });

  test("the engine issues no code or token before the person's code", async () => {
    await withSecondFactor(site.server, 'alice');
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const { uid = '' } = /interaction\/(?<uid>[\w-]+)/.exec(asked.url)?.groups ?? {};
    await browser.submit(asked, ALICE);
    const resumed = await browser.open(`/auth/${uid}`);
    expect(resumed.text).toContain('type="password"');
    const silent = await browser.open(site.authorize({ prompt: 'none' }));
    expect(silent.headers.get('location')).toContain('error=login_required');
  });
});

describe('a person who must have a second factor and has none', () => {
  beforeEach(() => reopen({ people: { secondFactor: 'required' } }));

  test('only with a password, a person who has a passkey, which is both factors, cannot set up a second factor', async () => {
    const { id: accountId = '' } = (await site.server.stores.people.getByName('alice')) ?? {};
    await site.server.stores.passkeys.add({ ...somePasskey('p'), accountId }, 20);
    const browser = site.browser();
    const page = await afterPassword(browser);
    expect([page.status, page.text]).toEqual([
      422,
      expect.stringContaining('Sign in with your passkey'),
    ]);
    expect(page.text).not.toContain('one-time-code');
    expect(hasSession(browser)).toBe(false);
    const wrong = await afterPassword(browser, { ...ALICE, password: 'wrong' });
    expect(wrong.text).not.toContain('Sign in with your passkey');
  });

  test('a planted passkey does not lock the person out: a link makes another, or an operator removes it', async () => {
    const { passkeys } = site.server.stores;
    const { id: accountId = '' } = (await site.server.stores.people.getByName('alice')) ?? {};
    await passkeys.add({ ...somePasskey('planted'), accountId }, 20);
    const removal = { accountId, id: 'planted' };
    expect((await afterPassword(site.browser())).text).toContain('never made a passkey');
    expect(await removePasskey(site.server, { ...removal, least: 1 })).toBe('last');
    expect(await removePasskey(site.server, { ...removal, least: 0 })).toBe('removed');
    expect((await afterPassword(site.browser())).text).toContain('<svg');
    await passkeys.add({ ...somePasskey('planted'), accountId }, 20);
    const links = createRecoveryLinks({ ...site.server, random: systemRandom });
    const path = `/recover/${await links.make({ person: accountId, purpose: 'recovery' })}`;
    const browser = site.browser();
    const page = await browser.open(path);
    const own = new Authenticator(site.server.config.issuer);
    const sent = { password: '', passkey: own.create(optionsIn(page)) };
    expect((await browser.send(page, sent, path)).status).toBe(200);
    // The password that the attacker knew ended with the link, and the person's passkey is not the last one.
    expect((await afterPassword(site.browser())).status).toBe(422);
    expect(await removePasskey(site.server, { ...removal, least: 1 })).toBe('removed');
    expect(await passkeys.of(accountId)).toMatchObject([{ id: own.id }]);
  });

  test('the person is led through the set-up, gets no access before it, and is then signed in by both factors', async () => {
    const browser = site.browser();
    const page = await afterPassword(browser);
    expect(page.text).toContain('<svg');
    expect(hasSession(browser)).toBe(false);
    expect((await browser.open('/account')).text).toContain('type="password"');
    const code = appFrom(page, site.server);
    const wrong = await browser.submit(page, { code: '000000' });
    expect(wrong.status).toBe(422);
    expect(appFrom(wrong, site.server)()).toBe(code());
    const done = await browser.submit(wrong, { code: code() });
    expect(codesOn(done)).toHaveLength(10);
    expect((await browser.open('/account')).text).toContain('Signed in as');
    expect(await signInsOf('alice')).toMatchObject([{ assurance: { acr: SECOND_FACTOR } }]);
    const next = site.browser();
    const asked = await afterPassword(next);
    expect(asked.text).not.toContain('<svg');
    expect((await next.submit(asked, { code: code() })).status).toBe(422);
    const [recovery = ''] = codesOn(done);
    expect((await next.submit(asked, { recovery })).text).toContain('Signed in as');
  });

  test('the page says what ends, opens an app on this device, and shows the same secret after a reload', async () => {
    const browser = site.browser();
    const form = await browser.open('/account');
    const page = await browser.submit(form, ALICE, '/sign-in');
    expect(page.text).toContain('every other browser is signed out');
    expect(page.text).toContain('href="otpauth://totp/');
    const again = await browser.submit(form, ALICE, '/sign-in');
    const code = appFrom(page, site.server)();
    expect(appFrom(again, site.server)()).toBe(code);
    // In another browser, for another person or after its time the secret is a different one.
    expect(appFrom(await afterPassword(site.browser()), site.server)()).not.toBe(code);
    expect(appFrom(await browser.submit(form, BOB, '/sign-in'), site.server)()).not.toBe(code);
    clock.advance(301);
    expect(appFrom(await browser.submit(form, ALICE, '/sign-in'), site.server)()).not.toBe(
      appFrom(page, site.server)(),
    );
  });

  test('when the page of the codes is loaded again later, it says that they were shown once', async () => {
    const browser = site.browser();
    const page = await afterPassword(browser);
    const code = appFrom(page, site.server)();
    expect(codesOn(await browser.send(page, { code }))).toHaveLength(10);
    clock.advance(31);
    const again = await browser.send(page, { code });
    expect(again.status).toBe(422);
    expect(again.text).toContain('its recovery codes were shown once');
    expect(codesOn(again)).toEqual([]);
  });

  test('before a client the codes are shown before the person continues', async () => {
    const browser = site.browser();
    const page = await browser.submit(await browser.open(site.authorize()), ALICE);
    const shown = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(codesOn(shown)).toHaveLength(10);
    const [, href = ''] = /class="button primary" href="([^"]*)"/.exec(shown.text) ?? [];
    const consent = await browser.open(href);
    const answered = await browser.submit(consent, { decision: 'allow' });
    expect(answerIn(answered).get('code')).not.toBeNull();
  });

  test('if ten set-ups come at the same time, the person has one second factor and one sign-in', async () => {
    const browsers = Array.from({ length: 5 }, () => site.browser());
    const pages = await Promise.all(browsers.map((one) => afterPassword(one)));
    const answers = await Promise.all(
      browsers.flatMap((one, n) => {
        const page = pages[n] as Page;
        const code = appFrom(page, site.server)();
        return [one.send(page, { code }), one.send(page, { code })];
      }),
    );
    const shown = answers.map((page) => codesOn(page).join(' ')).filter((codes) => codes !== '');
    expect(new Set(shown).size).toBe(1);
    expect((await signInsOf('alice')).length).toBeLessThanOrEqual(1);
  });

  test('a set-up that began before the password was changed has no effect', async () => {
    const browser = site.browser();
    const page = await afterPassword(browser);
    const { id = '' } = (await site.server.stores.people.getByName('alice')) ?? {};
    await endEverything(site.server, id);
    const late = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(late.text).toContain('Start again');
    expect(await site.server.stores.secondFactors.get(id)).toBeUndefined();
    expect(hasSession(browser)).toBe(false);
  });

  test('the person cannot choose the secret: a state with another one is refused', async () => {
    const browser = site.browser();
    const page = await afterPassword(browser);
    const step = stepOn(page) ?? '';
    const other = step.slice(0, -4) + (step.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    const code = appFrom(page, site.server)();
    expect((await browser.submit(page, { step: other, code })).text).toContain('Start again');
  });
});

describe('a second factor that becomes required after a sign-in or grant', () => {
  /**
   * alice signs in with her password, and an application gets a refresh token. Afterwards her group must have a second
   * factor.
   */
  async function before() {
    await reopen({ people: { secondFactor: { required: ['staff'] } } });
    const browser = site.browser();
    await afterPassword(browser);
    const consent = await browser.open(
      site.authorize({ scope: 'openid offline_access documents:read', prompt: 'consent' }),
    );
    const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
    return { browser, tokens };
  }
  const join = () => setProfile(site.server, 'alice', () => ({ groups: ['staff'] }));
  async function refresh(token: unknown) {
    const body = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: String(token),
    });
    const answer = await fetched(`${site.url}/token`, { method: 'POST', body });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  test('the session must sign in again, at the pages and before a client', async () => {
    const { browser } = await before();
    expect((await browser.open('/account')).text).toContain('Signed in as');
    await join();
    expect((await browser.open('/account')).text).toContain('type="password"');
    expect((await browser.open('/device')).text).toContain('type="password"');
    const silent = await browser.open(site.authorize({ prompt: 'none' }));
    expect(silent.headers.get('location')).toContain('error=login_required');
    const page = await afterPassword(browser);
    const done = await browser.submit(page, { code: appFrom(page, site.server)() });
    expect(codesOn(done)).toHaveLength(10);
  });

  test('a refresh token gets no tokens, and is not used up', async () => {
    const { tokens } = await before();
    const first = await refresh(tokens['refresh_token']);
    expect(first.status).toBe(200);
    await join();
    const refused = await refresh(first.body['refresh_token']);
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await setProfile(site.server, 'alice', () => ({}));
    expect((await refresh(first.body['refresh_token'])).status).toBe(200);
  });
});
