import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUrl } from '#shared/http/any-uri.fixture.ts';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { disablePerson } from '#shared/people/people.ts';
import { createPasswords } from '#shared/people/password.ts';
import { answerIn, PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';
import { checkedContinue } from '../../pages/sign-in/sign-in.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const ALICE = { name: 'alice', password: PASSWORD };
const BOB = { name: 'bob', password: PASSWORD };
const ISSUER = 'https://auth.example';
const idOf = async (name: string) => (await site.server.stores.people.getByName(name))?.id ?? '';

describe('the page to which a person continues after signing in', () => {
  test.each([
    ['/account', '/account'],
    ['/device', '/device'],
    ['/device?user_code=BCDF-GHJK', '/device?user_code=BCDF-GHJK'],
    ['/device?user_code=a&user_code=b', '/device?user_code=a'],
    ['/device?user_code=%22%3E%0d%0aX: y&x=1', '/device?user_code=%22%3E%0D%0AX%3A+y'],
    ['/account?ended=access', '/account'],
    ['https://auth.example/device', '/device'],
    ['', '/account'],
    ['/', '/account'],
    ['//evil.example/account', '/account'],
    ['/\\evil.example/account', '/account'],
    ['\\\\evil.example/account', '/account'],
    ['https://evil.example/device', '/account'],
    ['https:evil.example', '/account'],
    ['https://auth.example@evil.example/account', '/account'],
    ['https://auth.example.evil.example/account', '/account'],
    ['javascript:alert(1)', '/account'],
    ['data:text/html,x', '/account'],
    ['/device/../sign-out', '/account'],
    ['/device/', '/account'],
    ['\t//evil.example', '/account'],
    ['/sign-out', '/account'],
    ['__proto__', '/account'],
  ])('the address %j leads to %s', (goOn, path) => {
    expect(checkedContinue(goOn, ISSUER)).toBe(path);
  });

  test('a sign-in never leads to another site', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      'device',
      'account',
      '?',
      '#',
      '@',
      ':',
      'evil.example',
      'https:',
      '..',
      '%2f',
      '\t',
      '\n',
      'user_code=',
      '&',
      ' ',
    );
    const text = fc.oneof(
      anyText(),
      fc.array(piece).map((all) => all.join('')),
      anyUrl,
    );
    fc.assert(
      fc.property(text, (goOn) => {
        const path = checkedContinue(goOn, ISSUER);
        expect(path).toMatch(/^\/(?:account|device(?:\?user_code=[\w.*+%-]*)?)$/);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(['https://evil.example', '//evil.example', '/device?user_code=BCDF-GHJK'])(
    'a form that names %s leads to a page of this server',
    async (goOn) => {
      const browser = site.browser();
      const done = await browser.send(await browser.open('/account'), { ...ALICE, continue: goOn });
      expect(done.headers.get('location')).toBe(checkedContinue(goOn, site.server.config.issuer));
    },
  );
});

describe('the session after a sign-in', () => {
  const sessionOf = (browser: ReturnType<TestSite['browser']>) =>
    browser.cookies.find(({ name }) => name === 'countersign-session')?.value;

  test('the session gets a new identifier, and a planted identifier is not signed in', async () => {
    const [attacker, victim] = [site.browser(), site.browser()];
    await attacker.open(site.authorize({ prompt: 'none' }));
    await attacker.open('/session/end');
    victim.plant(attacker, /^countersign-session/);
    await victim.submit(await victim.open('/account'), ALICE);
    expect(sessionOf(victim)).toBeDefined();
    expect(sessionOf(victim)).not.toBe(sessionOf(attacker));
    expect((await attacker.open('/account')).text).toContain('type="password"');
  });

  test('the session gets a new identifier when the same person signs in again, and the old one no longer works', async () => {
    const browser = site.browser();
    const form = await browser.open('/account');
    await browser.submit(form, ALICE);
    const old = site.browser();
    old.plant(browser);
    await browser.submit(form, ALICE);
    expect(sessionOf(browser)).not.toBe(sessionOf(old));
    expect((await old.open('/account')).text).toContain('type="password"');
    expect((await browser.open('/account')).text).toContain('/sign-out');
  });

  test('the session ends before another person signs in', async () => {
    const browser = site.browser();
    const form = await browser.open('/account');
    await browser.submit(form, ALICE);
    const old = site.browser();
    old.plant(browser);
    const before = await listSignIns(site.server, await idOf('alice'));
    expect((await browser.submit(form, BOB)).text).toContain('bob');
    expect(await listSignIns(site.server, await idOf('alice'))).toHaveLength(before.length - 1);
    expect((await old.open('/account')).text).toContain('type="password"');
  });

  test('the session serves a client that asks later', async () => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE);
    const consent = await browser.open(site.authorize());
    expect(
      answerIn(await browser.submit(consent, { decision: 'allow' })).get('code'),
    ).not.toBeNull();
  });

  test('the session is refused after the end of all access, however it was written', async () => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE);
    await endEverything(site.server, await idOf('alice'));
    expect((await browser.open('/account')).text).toContain('type="password"');
  });

  test('a changed cookie has no session', async () => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE);
    const cookie = browser.cookies
      .map(({ name, value }) => `${name}=${name === 'countersign-session' ? `${value}x` : value}`)
      .join('; ');
    const page = await browser.request('GET', '/account', undefined, { cookie });
    expect(page.text).toContain('type="password"');
  });
});

describe('no sign-in answer reveals who has an account', () => {
  /** Returns the answer without its random parts, and the number of passwords that were hashed. */
  async function attempt(own: TestSite, name: string, password: string) {
    const browser = own.browser();
    const form = await browser.open('/account');
    const before = own.hashings();
    const { status, headers, text } = await browser.send(form, { name, password });
    const fields = [...headers].filter(([field]) => !['date', 'set-cookie'].includes(field));
    const cookies = headers.getSetCookie().map((line) => line.replaceAll(/=[^;]*/g, '='));
    const csrf = form.forms[0]?.fields.find(([field]) => field === 'csrf')?.[1] ?? '';
    const masked = text
      .replaceAll(csrf, 'CSRF')
      .replaceAll(/&quot;challenge&quot;:&quot;[\w-]{72}&quot;/g, 'CHALLENGE')
      .replaceAll(`value="${name}"`, 'NAME')
      .replaceAll(/\d+(?= (?:second|minute)s?)/g, 'N');
    const retry = headers.has('retry-after');
    const other = fields.filter(([field]) => !['content-length', 'retry-after'].includes(field));
    return { status, other, cookies, masked, retry, hashings: own.hashings() - before };
  }

  test('a wrong, unknown and disabled name get the same answer, with one hash each', async () => {
    await using own = await testSite();
    const passwords = createPasswords();
    await disablePerson({ ...own.server, passwords, realms: [] }, 'bob');
    const wrong = await attempt(own, 'alice', 'wrong password');
    expect(wrong).toMatchObject({ status: 422, hashings: 1 });
    expect(await attempt(own, 'nobody', 'wrong password')).toEqual(wrong);
    expect(await attempt(own, 'bob', PASSWORD)).toEqual(wrong);
    expect(await attempt(own, 'bob', 'wrong password')).toEqual(wrong);
    expect(await attempt(own, '<"&\'>', PASSWORD)).toMatchObject({ status: 422, hashings: 1 });
  });

  test('after too many attempts all names get the same answer, without a hash', async () => {
    await using own = await testSite({ limits: { account: { burst: 2, per: 3600 } } });
    const names = ['alice', 'nobody'];
    for (const name of names) {
      for (let i = 0; i < 2; i += 1) {
        expect((await attempt(own, name, 'wrong password')).status).toBe(422);
      }
    }
    const [known, unknown] = [
      await attempt(own, 'alice', PASSWORD),
      await attempt(own, 'nobody', PASSWORD),
    ];
    expect(known).toMatchObject({ status: 429, retry: true, hashings: 0 });
    expect(unknown).toEqual(known);
    expect(await attempt(own, 'ALICE', PASSWORD)).toMatchObject({ status: 429, hashings: 0 });
  });

  test('after too many attempts from an address all names get the same answer', async () => {
    await using own = await testSite({ limits: { signIn: { burst: 2, per: 3600 } } });
    await attempt(own, 'a', 'wrong password');
    await attempt(own, 'b', 'wrong password');
    const refused = await attempt(own, 'alice', PASSWORD);
    expect(refused).toMatchObject({ status: 429, hashings: 0 });
    expect(await attempt(own, 'nobody', PASSWORD)).toEqual(refused);
  });

  test('IPv6 addresses with the same 64 bits are one address', async () => {
    await using own = await testSite({
      limits: { signIn: { burst: 2, per: 3600 } },
      trustedProxies: ['127.0.0.1/32'],
    });
    const statusFrom = async (address: string) => {
      const browser = own.browser();
      browser.fields = { ...browser.fields, 'x-forwarded-for': address };
      const form = await browser.open('/account');
      return (await browser.submit(form, { name: address, password: 'guess' })).status;
    };
    const same = ['2001:db8::1', '2001:db8::2', '2001:db8::3:4:5:6'];
    const statuses: number[] = [];
    for (const address of same) statuses.push(await statusFrom(address));
    expect(statuses).toEqual([422, 422, 429]);
    expect(await statusFrom('2001:db8:0:1::1')).toBe(422);
  });

  test('twenty concurrent attempts are counted one by one', async () => {
    await using own = await testSite({ limits: { account: { burst: 5, per: 3600 } } });
    const browser = own.browser();
    const form = await browser.open('/account');
    const before = own.hashings();
    const pages = await Promise.all(
      Array.from({ length: 20 }, () => browser.send(form, { name: 'alice', password: 'guess' })),
    );
    expect(pages.filter(({ status }) => status === 422)).toHaveLength(5);
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(15);
    expect(own.hashings() - before).toBe(5);
  });
});

describe('a right password', () => {
  const LIMITS = { account: { burst: 4, per: 3600 }, signIn: { burst: 6, per: 3600 } };

  /** Signs in with a browser that no person has used. */
  async function attempt(own: TestSite, { name, password }: typeof ALICE): Promise<number> {
    const browser = own.browser();
    return (await browser.send(await browser.open('/account'), { name, password })).status;
  }

  test('a right password uses up no limit, even if it is repeated in new browsers and three times at once', async () => {
    await using own = await testSite({ limits: LIMITS });
    for (let n = 0; n < 8; n += 1) expect(await attempt(own, ALICE)).toBe(303);
    const together = await Promise.all([ALICE, ALICE, ALICE].map((one) => attempt(own, one)));
    expect(together).toEqual([303, 303, 303]);
  });

  test('a right password gives back its own attempt, and no wrong guess of that name or address', async () => {
    await using own = await testSite({ limits: LIMITS });
    const wrong = (name: string) => attempt(own, { name, password: 'wrong password' });
    expect([await wrong('alice'), await wrong('alice'), await wrong('alice')]).toEqual([
      422, 422, 422,
    ]);
    for (let n = 0; n < 5; n += 1) expect(await attempt(own, ALICE)).toBe(303);
    expect([await wrong('alice'), await wrong('alice')]).toEqual([422, 429]);
    // An attempt that the limit of the name refused has used up the limit of the address as well.
    expect(await attempt(own, BOB)).toBe(303);
    expect([await wrong('bob'), await attempt(own, BOB)]).toEqual([422, 429]);
  });
});

describe("other people's attempts cannot block a person's own browser", () => {
  test('a browser that knows the person has its own count, and another name has none there', async () => {
    await using own = await testSite({
      limits: { account: { burst: 2, per: 3600 }, signIn: { burst: 8, per: 3600 } },
    });
    const home = own.browser();
    const form = await home.open('/account');
    await home.submit(form, ALICE);
    const attacker = own.browser();
    const theirs = await attacker.open('/account');
    const guesses: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      guesses.push((await attacker.send(theirs, { name: 'alice', password: 'guess' })).status);
    }
    expect(guesses.filter((status) => status === 429).length).toBeGreaterThan(6);
    expect((await home.send(form, ALICE)).status).toBe(303);
    // The browser's own count ends as well, and no other person may use it.
    expect((await home.send(form, BOB)).status).toBe(429);
    for (const status of [422, 422, 429]) {
      expect((await home.send(form, { name: 'alice', password: 'guess' })).status).toBe(status);
    }
    expect((await home.send(form, ALICE)).status).toBe(429);
  });

  test('many known browsers of one person have three times as many guesses as one', async () => {
    await using own = await testSite({ limits: { account: { burst: 2, per: 3600 } } });
    const browsers = Array.from({ length: 10 }, () => own.browser());
    for (const browser of browsers) await browser.submit(await browser.open('/account'), ALICE);
    const statuses: number[] = [];
    for (const browser of browsers) {
      await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
      const asked = await browser.open('/account');
      for (let n = 0; n < 2; n += 1) {
        statuses.push((await browser.send(asked, { name: 'alice', password: 'guess' })).status);
      }
    }
    expect(statuses.filter((status) => status === 422)).toHaveLength(6);
    expect(statuses.slice(6)).toEqual(Array.from({ length: 14 }, () => 429));
  });

  test('the cookie of one person does not help another person, even if it is changed', async () => {
    await using own = await testSite({ limits: { account: { burst: 1, per: 3600 } } });
    const attacker = own.browser();
    const form = await attacker.open('/account');
    await attacker.submit(form, BOB);
    expect((await attacker.send(form, { name: 'alice', password: 'guess' })).status).toBe(422);
    expect((await attacker.send(form, { name: 'alice', password: 'guess' })).status).toBe(429);
    const cookie = attacker.cookies
      .filter(({ name }) => !name.startsWith('countersign-known'))
      .map(({ name, value }) => `${name}=${value}`);
    for (const known of ['', 'a', 'a.b', 'a.'.repeat(2000)]) {
      const fields = { cookie: [...cookie, `countersign-known=${known}`].join('; ') };
      const csrf = form.forms[0]?.fields.find(([name]) => name === 'csrf')?.[1] ?? '';
      const sent = new URLSearchParams({ csrf, name: 'alice', password: 'guess' });
      expect((await attacker.request('POST', '/sign-in', sent, fields)).status).toBe(429);
    }
  });
});
