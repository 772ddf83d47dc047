import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { type Pair, type Person, startPair } from '../pair/pair.ts';
import { addressOf, type Asked, askFrom, filledIn } from './crowd.fixture.ts';

interface Crowd {
  readonly addresses: number;
  readonly atOnce: number;
}

/** Fewer requests than these fill the queue of argon2. No address exceeds its own limit of attempts. */
const CROWDS: readonly (readonly [title: string, size: Crowd])[] = [
  ['160 at once from 2 addresses', { addresses: 2, atOnce: 160 }],
  ['600 at once from 20 addresses', { addresses: 20, atOnce: 600 }],
];

let pair: Pair;
let alice: Person;
beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      spaces: [
        { url: `${resource}/basic/`, realm: 'basic', schemes: ['Basic'], serves: 'identity' },
      ],
    }),
  });
  alice = await pair.addPerson();
});
afterAll(() => pair[Symbol.asyncDispose]());

/** Sends all requests at once, from the addresses in rotation; `guess` makes the nth request. */
const crowd = (origin: string, { addresses, atOnce }: Crowd, guess: (n: number) => Asked) =>
  Promise.all(
    Array.from({ length: atOnce }, (_, n) => askFrom(origin, addressOf(n % addresses), guess(n))),
  );

const newBrowser = () => new TestBrowser(pair.issuer, pair.issuer);

describe('the sign-in page under guessed passwords', () => {
  test.each(CROWDS)('a known and a new browser still sign in (guesses: %s)', async (_, size) => {
    const known = newBrowser();
    await known.submit(await known.open('/account'), {
      name: alice.name,
      password: alice.password,
    });
    const again = newBrowser();
    again.plant(known, /known/);
    const people = [await filledIn(again, alice), await filledIn(newBrowser(), alice)];
    const guess = await filledIn(newBrowser(), { name: 'nobody', password: 'a guess' });
    const guesses = crowd(pair.issuer, size, (n) => ({
      ...guess,
      body: guess.body?.replace('nobody', `nobody-${n}`) ?? '',
    }));
    const statuses = await Promise.all(
      people.map((asked, n) => askFrom(pair.issuer, `127.8.${n}.1`, asked)),
    );
    expect(statuses).toEqual([303, 303]);
    expect(new Set(await guesses)).toEqual(new Set([422, 503]));
  });
});

describe('a space with Basic under guessed passwords', () => {
  const basic = (name: string, password: string): Asked => ({
    method: 'GET',
    path: '/basic/',
    headers: { authorization: `Basic ${btoa(`${name}:${password}`)}` },
  });

  test('a known client is admitted during 600 guesses at once from 20 addresses', async () => {
    const person = await pair.addPerson('bob');
    const size = { addresses: 20, atOnce: 600 };
    const guesses = crowd(pair.resource, size, (n) => basic(`nobody-${n}`, 'a guess'));
    const status = await askFrom(pair.resource, '127.8.0.1', basic(person.name, person.password));
    expect(status).toBe(200);
    expect(new Set(await guesses)).toEqual(new Set([401, 503]));
  });
});
