import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { addPerson, disablePerson, setPassword } from '#shared/people/people.ts';
import { systemRandom } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { schemeOf, spaceOf } from '../../judge/judge.fixture.ts';
import { judge } from '../../judge/judge.ts';
import { type Outcome, PROXY } from '../../scheme.ts';
import { type processOn, RIGHT, twoProcesses } from '../../credentials/two-processes.fixture.ts';
import { createVerifiedPasswords } from '../../credentials/verified-passwords.ts';
import { basic, parseUserPass } from './basic.ts';

const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');
const ALICE = base64(`alice:${RIGHT}`);
const CHALLENGE = { 'WWW-Authenticate': ['Basic realm="documents", charset="UTF-8"'] };

type More = Parameters<typeof requestOf>[1];

/** A space with Basic alone, on a real directory, and the same space in a second process. */
async function setup({ burst = 1000 } = {}) {
  const here = await twoProcesses();
  const spaceAt = ({ directory, feed, clock, stores }: Awaited<ReturnType<typeof processOn>>) => {
    const passwords = createVerifiedPasswords({ directory, feed, clock, random: systemRandom });
    const attempts = createAttempts({
      limits: stores.limits,
      account: { burst, per: 60 },
      address: { burst: 1000, per: 1 },
    });
    return spaceOf([basic({ realm: 'documents', passwords, attempts })]);
  };
  const space = spaceAt(here);
  const elsewhere = spaceAt(here.there);
  const ask = (token68: string, more?: More) =>
    judge(space, requestOf([['Authorization', `Basic ${token68}`]], more));
  return { ...here, space, elsewhere, ask };
}

const statusOf = (outcome: Outcome) => (outcome.kind === 'answer' ? outcome.status : outcome.kind);

describe('RFC 7617 section 2: user-pass', () => {
  test.each([
    ['the example of section 2', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    ['the example of section 2.1', 'dGVzdDoxMjPCow==', 'test', '123£'],
    ['the first colon separates', base64('a:b:c:'), 'a', 'b:c:'],
    ['an empty password is read', base64('a:'), 'a', ''],
    ['an empty name is read', base64(':b'), '', 'b'],
    ['an empty name and password are read', base64(':'), '', ''],
    [
      'section 2.1: name and password are normalized to NFC',
      base64('A\u030a:e\u0301'),
      '\u00c5',
      '\u00e9',
    ],
    [
      'a combining mark after the colon belongs to the password',
      base64('a:\u0338b'),
      'a',
      '\u0338b',
    ],
    ['a byte order mark belongs to the name', base64('\ufeffa:b'), '\ufeffa', 'b'],
    [
      'characters beyond the basic plane are read',
      base64('\u{1f511}:\u{1f513}'),
      '\u{1f511}',
      '\u{1f513}',
    ],
  ])('name and password are read: %s', (_, token68, name, password) => {
    expect(parseUserPass(token68)).toEqual({ name, password });
  });

  test.each([
    ['user-pass without a colon', base64('Aladdin')],
    ['empty credentials', ''],
    ['user-pass encoded twice', base64('QWxhZGRpbjpvcGVuIHNlc2FtZQ==')],
    ['base64 without padding', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ'],
    ['base64 with half of its padding', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ='],
    ['base64 with too much padding', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==='],
    ['base64 with bits after the end (RFC 4648 section 3.5)', 'QWxhZGRpbjpvcGVuIHNlc2FtZR=='],
    ['base64 with characters after the padding', 'QTpi=QTpi'],
    ['base64url', base64('a:>>>???').replaceAll('+', '-').replaceAll('/', '_')],
    ['base64 with white space', 'QWxh ZGRpbjpvcGVuIHNlc2FtZQ=='],
    ['user-pass without base64', 'Aladdin:open'],
    ['user-pass in ISO-8859-1 (section 2.1)', base64('test:123\u00a3', 'latin1')],
    ['an overlong form of UTF-8', Buffer.from([0x61, 0x3a, 0xc0, 0xaf]).toString('base64')],
    ['half of a surrogate pair', Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80]).toString('base64')],
    ['a control character in the name', base64('a\tb:c')],
    ['a control character in the password', base64('a:b\0')],
    ['a line break', base64('a:b\r\nX: y')],
    ['DEL', base64('a:\u007f')],
    ['a control character of ISO 6429', base64('a:\u0085')],
  ])('%s: the credentials are refused as malformed', (_, token68) => {
    expect(parseUserPass(token68)).toBeUndefined();
  });

  test('names and passwords are normalised to NFC, so that each has one spelling', () => {
    const text = anyText();
    fc.assert(
      fc.property(text, text, (name, password) => {
        const sent = `${name.replaceAll(':', '')}:${password}`;
        const parsed = parseUserPass(base64(sent));
        if (!sent.isWellFormed()) return;
        if (/\p{Cc}/u.test(sent)) expect(parsed).toBeUndefined();
        else {
          expect(parsed).toEqual({
            name: name.replaceAll(':', '').normalize('NFC'),
            password: password.normalize('NFC'),
          });
        }
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[\w.~+/-]{0,40}={0,3}$/), (token68) => {
        if (parseUserPass(token68) === undefined) return;
        const octets = atob(token68);
        expect(btoa(octets)).toBe(token68);
        expect(octets).toContain(':');
      }),
    );
  });
});

describe('RFC 7617: at a space', () => {
  test('section 2: the challenge of Basic has realm and charset', async () => {
    const { space } = await setup();
    expect(await judge(space, requestOf())).toMatchObject({ status: 401, fields: CHALLENGE });
  });

  test('section 2: the right password is accepted, with any case of the scheme and any Unicode form of the name', async () => {
    const { space, ask, alice } = await setup();
    const principal = {
      kind: 'person',
      realm: 'documents',
      name: 'alice',
      claims: { sub: alice.id },
    };
    for (const scheme of ['Basic', 'bASIC', 'basic']) {
      const request = requestOf([['Authorization', `${scheme} ${ALICE}`]]);
      expect(await judge(space, request)).toMatchObject({ kind: 'pass', principal });
    }
    expect(await ask(base64(`ＡLICE:${RIGHT}`))).toMatchObject({ kind: 'pass', principal });
    const spaces = RIGHT.replaceAll(' ', '\u00a0');
    expect(await ask(base64(`alice:${spaces}`))).toMatchObject({ kind: 'pass', principal });
  });

  test.each([
    ['user-pass without a colon', base64('alice')],
    ['user-pass encoded twice', base64(ALICE)],
    ['ISO-8859-1', base64('alice:\u00a3', 'latin1')],
    ['no padding', ALICE.replace(/=+$/, '')],
    ['parameters', 'username="alice", password="x"'],
    ['empty credentials', ''],
  ])('a malformed value (%s) is 401, without hashing', async (_, value) => {
    const { space, argon2 } = await setup();
    const request = requestOf([['Authorization', `Basic${value && ` ${value}`}`]]);
    expect(await judge(space, request)).toMatchObject({ status: 401, fields: CHALLENGE });
    expect(argon2.verifications).toBe(0);
  });

  test('unknown names, wrong passwords, disabled people and people without a password get the same answer after one hashing', async () => {
    const { ask, argon2, store } = await setup();
    await addPerson(store, { name: 'carol' });
    const wrong = await ask(base64('alice:wrong password'));
    expect(wrong).toMatchObject({ status: 401, fields: CHALLENGE });
    for (const name of ['mallory', 'bob', 'carol', '', 'al ice']) {
      const before = argon2.verifications;
      expect(await ask(base64(`${name}:${RIGHT}`))).toEqual(wrong);
      expect(argon2.verifications).toBe(before + 1);
    }
  });

  test('very long and empty passwords get the same answer for any name, without hashing', async () => {
    const { ask, argon2 } = await setup();
    for (const password of ['x'.repeat(40_000), '']) {
      for (const name of ['alice', 'mallory', 'bob', '']) {
        expect(await ask(base64(`${name}:${password}`))).toMatchObject({
          status: 401,
          fields: CHALLENGE,
        });
      }
    }
    expect(argon2.verifications).toBe(0);
  });

  test('a password of which only the first 72 bytes are right is refused', async () => {
    const { ask, store } = await setup();
    const long = 'p'.repeat(100);
    await setPassword(store, 'alice', long);
    expect(statusOf(await ask(base64(`alice:${long}`)))).toBe('pass');
    expect(statusOf(await ask(base64(`alice:${long.slice(0, 72)}`)))).toBe(401);
    expect(statusOf(await ask(base64(`alice:${long}x`)))).toBe(401);
  });

  test.each([
    ['a new password', setPassword],
    ['disabled', disablePerson],
  ])('%s: the next request of both processes is refused', async (_, change) => {
    const { space, elsewhere, store } = await setup();
    const request = requestOf([['Authorization', `Basic ${ALICE}`]]);
    const both = async () =>
      Promise.all([space, elsewhere].map(async (one) => statusOf(await judge(one, request))));
    expect(await both()).toEqual(['pass', 'pass']);
    await change(store, 'alice', 'another password');
    expect(await both()).toEqual([401, 401]);
  });

  test('section 2: at a proxy, Basic uses the fields of proxies', async () => {
    const { space } = await setup();
    const proxy = { ...space, at: PROXY };
    expect(await judge(proxy, requestOf([['Authorization', `Basic ${ALICE}`]]))).toMatchObject({
      status: 407,
      fields: { 'Proxy-Authenticate': CHALLENGE['WWW-Authenticate'] },
    });
    const request = requestOf([['Proxy-Authorization', `Basic ${ALICE}`]], { at: PROXY });
    expect(await judge(proxy, request)).toMatchObject({ kind: 'pass' });
  });

  test('a form on a page of another origin cannot use the credentials that the browser has stored', async () => {
    const { space, argon2 } = await setup();
    const fields = [
      ['Authorization', `Basic ${ALICE}`],
      ['Origin', 'https://evil.example'],
    ] as const;
    expect(await judge(space, requestOf(fields, { method: 'POST' }))).toMatchObject({
      status: 403,
    });
    expect(argon2.verifications).toBe(0);
  });
});

describe('RFC 7617 section 4: Basic in clear text', () => {
  const clear: More = { confidential: false };

  test('Basic is neither offered nor checked: right and wrong passwords get 403', async () => {
    const { space, ask, argon2 } = await setup();
    const none = await judge(space, requestOf([], clear));
    expect(none).toMatchObject({ status: 403, fields: {} });
    expect(none).not.toHaveProperty('fields.WWW-Authenticate');
    const right = await ask(ALICE, clear);
    expect(right).toMatchObject({ status: 403, fields: {} });
    expect(await ask(base64('alice:wrong'), clear)).toEqual(right);
    expect(argon2.verifications).toBe(0);
  });

  test('credentials that were accepted over TLS get 403 in clear text, too', async () => {
    const { ask } = await setup();
    expect(statusOf(await ask(ALICE))).toBe('pass');
    expect(statusOf(await ask(ALICE, clear))).toBe(403);
  });

  test('beside another scheme the answer is 401 with only the challenge of that scheme', async () => {
    const { space } = await setup();
    const both = spaceOf([...space.schemes, schemeOf('One')]);
    const request = requestOf([['Authorization', `Basic ${ALICE}`]], clear);
    expect(await judge(both, request)).toMatchObject({
      status: 401,
      fields: { 'WWW-Authenticate': ['One realm="documents"'] },
    });
  });
});

describe('too many attempts', () => {
  const from = (address: string): More => ({
    peer: { address, connection: {}, http2: false, trusted: false },
  });

  test('known and unknown names get the same 429 with Retry-After, without hashing', async () => {
    const { ask, argon2 } = await setup({ burst: 2 });
    const answers: Outcome[] = [];
    for (const name of ['alice', 'mallory']) {
      for (let n = 0; n < 2; n += 1) expect(statusOf(await ask(base64(`${name}:x`)))).toBe(401);
      answers.push(await ask(base64(`${name}:${RIGHT}`)));
    }
    expect(answers[0]).toMatchObject({ status: 429, fields: { 'Retry-After': '60' } });
    expect(answers[1]).toEqual(answers[0]);
    expect(argon2.verifications).toBe(4);
  });

  test('ten requests at the same time, with any form of the name, cause no more hashings than the burst', async () => {
    const { ask, argon2 } = await setup({ burst: 3 });
    const names = ['alice', 'Alice', 'ＡLICE', 'aliCe'];
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => ask(base64(`${names[n % 4]}:guess ${n}`))),
    );
    const counted = (status: number) =>
      outcomes.filter((outcome) => statusOf(outcome) === status).length;
    expect([counted(401), counted(429)]).toEqual([3, 7]);
    expect(argon2.verifications).toBe(3);
  });

  test('a remembered password does not show a throttled guesser that a guess was right', async () => {
    const { ask } = await setup({ burst: 3 });
    expect(statusOf(await ask(ALICE))).toBe('pass');
    for (let n = 0; n < 2; n += 1) await ask(base64(`alice:guess ${n}`), from('192.0.2.9'));
    expect(statusOf(await ask(ALICE, from('192.0.2.9')))).toBe(429);
    expect(statusOf(await ask(ALICE))).toBe('pass');
  });
});

test('a store that does not answer gives 503, also for a remembered password', async () => {
  const { directory, feed, clock, stores } = await twoProcesses();
  let down = false;
  const failing = async () => Promise.reject(new StoreUnavailable('down'));
  const passwords = createVerifiedPasswords({
    directory,
    feed: { latest: () => (down ? failing() : feed.latest()) },
    clock,
    random: systemRandom,
  });
  const rate = { burst: 9, per: 1 };
  const limits: Pick<typeof stores.limits, 'spend'> = {
    spend: (...args) => (down ? failing() : stores.limits.spend(...args)),
  };
  const attempts = createAttempts({ limits, account: rate, address: rate });
  const space = spaceOf([basic({ realm: 'documents', passwords, attempts })]);
  const ask = async (token68: string): Promise<unknown> =>
    judge(space, requestOf([['Authorization', `Basic ${token68}`]]));
  expect(await ask(ALICE)).toMatchObject({ kind: 'pass' });
  down = true;
  for (const token68 of [ALICE, base64('mallory:x')]) {
    expect(await ask(token68)).toMatchObject({ status: 503, fields: { 'Retry-After': '1' } });
  }
});

test('any text after the name of the scheme gives 400 or 401', async () => {
  const { space, argon2 } = await setup();
  await fc.assert(
    fc.asyncProperty(anyText(), async (text) => {
      const outcome = await judge(space, requestOf([['Authorization', `Basic ${text}`]]));
      expect([400, 401]).toContain(statusOf(outcome));
    }),
  );
  expect(argon2.verifications).toBe(0);
});
