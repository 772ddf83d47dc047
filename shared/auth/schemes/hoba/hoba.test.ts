import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Scheme } from '../../scheme.ts';
import {
  ALICE,
  BOB,
  clientKey,
  ORIGIN,
  OTHER,
  REALM,
  requestTo,
  resultOf,
  type Said,
  twoHobaProcesses,
} from './hoba.fixture.ts';

type Processes = Awaited<ReturnType<typeof twoHobaProcesses>>;
let all: Processes;
beforeEach(async () => {
  all = await twoHobaProcesses();
});

const request = requestTo(ORIGIN);
const GRANTED = {
  kind: 'granted',
  grounds: expect.anything(),
  principal: { kind: 'person', realm: REALM, name: 'alice', claims: { sub: ALICE.id } },
};

async function challengeOf(scheme: Scheme, at = request): Promise<string> {
  const [challenge] = await scheme.challenge(at);
  return challenge?.params?.['challenge'] ?? '';
}

const send = async (scheme: Scheme, result: string, at = request) =>
  scheme.authenticate({ scheme: 'hoba', rest: '', params: { result } }, at);

async function reasonOf(scheme: Scheme, result: string, at = request): Promise<string> {
  const verdict = await send(scheme, result, at);
  return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
}

/** Returns a right answer to a fresh challenge, changed as `said` says. */
const answer = async (scheme: Scheme, said: Said = {}, key = clientKey()) =>
  resultOf(key, await challengeOf(scheme), said);

describe('RFC 7486 section 3', () => {
  test('each 401 has its own challenge, with max-age, without a realm', async () => {
    const scheme = all.here.scheme(10);
    const [one, two] = [await scheme.challenge(request), await scheme.challenge(request)];
    expect(one).toEqual([
      {
        scheme: 'HOBA',
        params: { challenge: expect.stringMatching(/^[\w-]{51}$/), 'max-age': '10' },
      },
    ]);
    expect(one).not.toEqual(two);
  });

  test('a signature of the challenge admits the holder of the key, at any process', async () => {
    expect(await send(all.there.scheme(), await answer(all.here.scheme()))).toEqual(GRANTED);
  });

  test('a client may sign one challenge several times until it expires', async () => {
    const scheme = all.here.scheme(10);
    const challenge = await challengeOf(scheme);
    const signed = () => resultOf(clientKey(), challenge);
    expect(await send(scheme, signed())).toEqual(GRANTED);
    all.clock.advance(10);
    expect(await send(scheme, signed())).toEqual(GRANTED);
    all.clock.advance(0.001);
    expect(await reasonOf(scheme, signed())).toBe('a challenge that is too old');
  });

  test('with max-age 0 a challenge is valid for one signature and for a minute', async () => {
    const [here, there] = [all.here.scheme(0), all.there.scheme(0)];
    const challenge = await challengeOf(here);
    expect(await send(here, resultOf(clientKey(), challenge))).toEqual(GRANTED);
    expect(await reasonOf(there, resultOf(clientKey(), challenge))).toBe('signed for once already');
    const late = await answer(here);
    all.clock.advance(60.001);
    expect(await reasonOf(there, late)).toBe('a challenge that is too old');
  });

  test('a challenge of a process whose clock is ahead is accepted', async () => {
    const result = await answer(all.here.scheme());
    all.clock.advance(-60);
    expect(await send(all.there.scheme(), result)).toEqual(GRANTED);
    all.clock.advance(-0.001);
    const again = resultOf(clientKey(), result.split('.')[1] ?? '');
    expect(await reasonOf(all.there.scheme(), again)).toBe('a challenge that is too old');
  });
});

describe('replay', () => {
  test('a signature is accepted once in the life of its challenge', async () => {
    const scheme = all.here.scheme(300);
    const result = await answer(scheme);
    expect(await send(scheme, result)).toEqual(GRANTED);
    for (const seconds of [0, 1, 150, 149]) {
      all.clock.advance(seconds);
      expect(await reasonOf(all.there.scheme(300), result)).toBe('signed for once already');
    }
  });

  test.each([
    [60, 0, 0],
    [0, 60, 0],
    [60, 600, 200],
    [0, 600, 200],
  ])(
    'a signature for a space with max-age %i, sent in a space with %i after %i seconds',
    async (one, other, seconds) => {
      const result = await answer(all.here.scheme(one));
      expect(await send(all.here.scheme(one), result)).toEqual(GRANTED);
      all.clock.advance(seconds);
      expect(await reasonOf(all.there.scheme(other), result)).toBe('signed for once already');
    },
  );

  test.each([0, 60])(
    'max-age %i: of fifty equal results at the same time at two processes, one is accepted',
    async (maxAge) => {
      const result = await answer(all.here.scheme(maxAge));
      const [here, there] = [all.here.scheme(maxAge), all.there.scheme(maxAge)];
      const verdicts = await Promise.all(
        Array.from({ length: 50 }, (_, n) => send(n % 2 ? there : here, result)),
      );
      expect(verdicts.filter(({ kind }) => kind === 'granted')).toHaveLength(1);
    },
  );

  test('a signature with padding is a replay of the same signature without padding', async () => {
    const scheme = all.here.scheme();
    const result = await answer(scheme);
    expect(await send(scheme, result)).toEqual(GRANTED);
    expect(await reasonOf(scheme, `${result}==`)).toBe('signed for once already');
  });

  test('a refused request uses up no challenge', async () => {
    const scheme = all.here.scheme(0);
    const result = await answer(scheme);
    await send(scheme, `${result.slice(0, -8)}AAAAAAAA`);
    await send(scheme, resultOf(clientKey(1), result.split('.')[1] ?? ''));
    expect(await send(scheme, result)).toEqual(GRANTED);
  });
});

describe('the owner of a key', () => {
  const WRONG = 'no such key, or the signature is wrong';

  test.each<[string, Said]>([
    ['of another origin', { origin: 'https://evil.example:443' }],
    ['of an origin without its port', { origin: ORIGIN }],
    ['of clear text', { origin: 'http://rs.example:443' }],
    ['with a realm', { realm: REALM }],
    ['with another alg', { alg: '1' }],
    ['with SHA-1', { alg: '1', hash: 'sha1' }],
    ['with SHA-1 that says it is SHA-256', { hash: 'sha1' }],
    ['with SHA-512', { hash: 'sha512' }],
  ])('a signature %s is refused', async (_, said) => {
    const scheme = all.here.scheme();
    expect(await reasonOf(scheme, await answer(scheme, said))).toBe(WRONG);
  });

  test('an unregistered key, and the kid of one key with the signature of another, are refused', async () => {
    const scheme = all.here.scheme();
    expect(await reasonOf(scheme, await answer(scheme, {}, clientKey(1)))).toBe(WRONG);
    const { kid } = clientKey();
    expect(await reasonOf(scheme, await answer(scheme, { kid }, clientKey(1)))).toBe(WRONG);
  });

  test('each key admits its own person', async () => {
    await all.add(clientKey(1), { owner: { kind: 'person', id: BOB.id } });
    const scheme = all.here.scheme();
    const verdict = await send(scheme, await answer(scheme, {}, clientKey(1)));
    expect(verdict).toMatchObject({ principal: { name: 'bob' } });
    const { kid } = clientKey(1);
    expect(await reasonOf(scheme, await answer(scheme, { kid }))).toBe(WRONG);
  });

  test.each<[string, object]>([
    ['of another origin', { origin: OTHER }],
    ['of no origin', { origin: undefined }],
    ['for another scheme', { scheme: 'Concealed' }],
  ])('a key %s is refused', async (_, more) => {
    await all.add(clientKey(1), more);
    const scheme = all.here.scheme();
    expect(await reasonOf(scheme, await answer(scheme, {}, clientKey(1)))).toBe(WRONG);
  });

  test.each<[string, object]>([
    ['an application', { owner: { kind: 'application', id: ALICE.id } }],
    ['a removed person', { owner: { kind: 'person', id: 'nobody' } }],
  ])('a key of %s is refused', async (_, more) => {
    await all.add(clientKey(1), more);
    const scheme = all.here.scheme();
    expect(await reasonOf(scheme, await answer(scheme, {}, clientKey(1)))).toBe(
      'the key belongs to no person',
    );
  });

  test('a disabled person, and one whose key was removed, is refused at the next request', async () => {
    const [here, there] = [all.here.scheme(), all.there.scheme()];
    all.people.delete(ALICE.id);
    expect(await reasonOf(here, await answer(here))).toBe('the key belongs to no person');
    all.people.set(ALICE.id, ALICE);
    expect(await send(there, await answer(here))).toEqual(GRANTED);
    await all.here.stores.publicKeys.remove(clientKey().kid);
    expect(await reasonOf(there, await answer(here))).toBe(WRONG);
  });
});

describe('the origin (RFC 7486 section 3)', () => {
  test('the challenge of one origin is refused at another, even if the key is registered there', async () => {
    await all.add(clientKey(1), { origin: OTHER });
    const scheme = all.here.scheme();
    const at = requestTo(OTHER);
    const challenge = await challengeOf(scheme);
    const elsewhere = resultOf(clientKey(1), challenge, { origin: OTHER });
    expect(await reasonOf(scheme, elsewhere, at)).toBe('a challenge that is not ours');
    const there = resultOf(clientKey(1), await challengeOf(scheme, at), { origin: OTHER });
    expect(await send(scheme, there, at)).toEqual(GRANTED);
  });

  test('the requested URL must be of the origin', async () => {
    const scheme = all.here.scheme();
    const other = requestTo(ORIGIN, [], { target: 'https://evil.example/documents/' });
    const reason = 'asked for by the name of another origin';
    expect(await reasonOf(scheme, await answer(scheme), other)).toBe(reason);
  });

  test.each([
    ['an origin of http', requestTo('http://rs.example')],
    ['clear text at one of https', requestTo(ORIGIN, [], { confidential: false })],
  ])('%s: HOBA is neither offered nor accepted', async (_, at) => {
    const scheme = all.here.scheme();
    expect(await scheme.challenge(at)).toEqual([]);
    expect(scheme.needs?.(at)).toBe('HOBA is not taken in clear text: use https.');
    expect(scheme.needs?.(request)).toBeUndefined();
    expect(await reasonOf(scheme, await answer(scheme), at)).toBe(
      'HOBA needs TLS: this connection is in clear text',
    );
  });
});

describe('malformed credentials are 401 (RFC 7486 section 2)', () => {
  let right: string;
  beforeAll(() => {
    right = resultOf(clientKey(), 'c'.repeat(51));
  });

  test.each<[string, (parts: string[]) => string]>([
    ['nothing', () => ''],
    ...[0, 1, 2, 3].flatMap((part): [string, (parts: string[]) => string][] => [
      [`part ${part} cut`, (parts) => parts.with(part, parts[part]?.slice(0, -1) ?? '').join('.')],
      [`part ${part} longer`, (parts) => parts.with(part, `${parts[part]}A`).join('.')],
      [`part ${part} empty`, (parts) => parts.with(part, '').join('.')],
      [`part ${part} missing`, (parts) => parts.toSpliced(part, 1).join('.')],
      [`part ${part} huge`, (parts) => parts.with(part, 'A'.repeat(100_000)).join('.')],
    ]),
  ])('malformed credentials are refused: %s', async (_, change) => {
    const scheme = all.here.scheme();
    const parts = (await answer(scheme)).split('.');
    expect(await send(scheme, change(parts))).toMatchObject({ kind: 'refused' });
    expect(await send(scheme, change(parts))).not.toHaveProperty('as');
    expect(await send(scheme, parts.join('.'))).toEqual(GRANTED);
  });

  test('a token68, a missing result, and any other text are refused', async () => {
    const scheme = all.here.scheme();
    for (const credentials of [
      { token68: right },
      {},
      { params: {} },
      { params: { Result: right } },
    ]) {
      const verdict = await scheme.authenticate(
        { scheme: 'hoba', rest: '', ...credentials },
        request,
      );
      expect(verdict).toMatchObject({ kind: 'refused' });
    }
    const part = fc.oneof(anyText({ maxLength: 60 }), fc.stringMatching(/^[\w-]{1,60}$/));
    const text = fc.oneof(
      anyText(),
      fc.array(part, { maxLength: 5 }).map((some) => some.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (one) => {
        expect(await send(scheme, one)).toMatchObject({ kind: 'refused' });
      }),
    );
  });
});

describe('guessing', () => {
  test('guessing is limited by key and by address, for known and unknown keys', async () => {
    all = await twoHobaProcesses({ account: { burst: 3, per: 60 } });
    const scheme = all.here.scheme();
    for (const key of [clientKey(), clientKey(1)]) {
      const wrong = async () => {
        const [kid, challenge, nonce] = (await answer(scheme, {}, key)).split('.');
        return [kid, challenge, nonce, randomBytes(256).toString('base64url')].join('.');
      };
      const kinds: string[] = [];
      for (let n = 0; n < 5; n += 1) kinds.push((await send(scheme, await wrong())).kind);
      expect(kinds).toEqual(['refused', 'refused', 'refused', 'unavailable', 'unavailable']);
    }
  });

  test('credentials with a challenge of another server use up no limit', async () => {
    all = await twoHobaProcesses({ account: { burst: 1, per: 60 } });
    const scheme = all.here.scheme();
    for (let n = 0; n < 5; n += 1) {
      const made = resultOf(clientKey(), randomBytes(38).toString('base64url'));
      expect(await reasonOf(scheme, made)).toBe('a challenge that is not ours');
    }
    expect(await send(scheme, await answer(scheme))).toEqual(GRANTED);
  });
});

describe('the stored rows', () => {
  const record = () => all.here.stores.publicKeys.get(clientKey().kid);

  test('the last use is stored only for admitted clients', async () => {
    const scheme = all.here.scheme();
    await send(scheme, `${(await answer(scheme)).slice(0, -4)}AAAA`);
    expect((await record())?.used_at).toBeUndefined();
    await send(scheme, await answer(scheme));
    // The server stores the use after its answer, so the test waits.
    await eventually(async () => expect((await record())?.used_at).toBe(all.clock.now()));
  });

  test('no client is admitted while the store does not answer', async () => {
    const { scheme, stores } = all.here;
    const failing = async () => {
      throw new StoreUnavailable('down');
    };
    const broken = scheme();
    const result = await answer(broken);
    Object.assign(stores.replay, { unique: failing });
    await expect(async () => send(broken, result)).rejects.toThrow(StoreUnavailable);
  });
});
