import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { KeysUnavailable } from './issuer-keys.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { ALGORITHMS, type JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { GENERATE, publicJwk } from '#shared/jose/jws.fixture.ts';
import { silentLog } from '#shared/base/log.ts';
import { createJwks } from './jwks.ts';

const row = (alg: string): JwsAlgorithm => ALGORITHMS.get(alg) as JwsAlgorithm;
const ES256 = row('ES256');
const jwkOf = (kid: string) => ({ ...publicJwk(GENERATE.ES256().publicKey), kid, alg: 'ES256' });
const [A, B] = [jwkOf('a'), jwkOf('b')];

function setup() {
  const clock = new ManualClock();
  const state = { fetches: 0, answer: (): unknown => ({ keys: [A] }) };
  const jwks = createJwks({
    url: 'https://as.example/jwks',
    fetch(url) {
      expect(url).toBe('https://as.example/jwks');
      state.fetches += 1;
      return Promise.resolve(state.answer());
    },
    clock,
    maxAge: 300,
    cooldown: 30,
    log: silentLog,
  });
  const away = () => {
    throw new Error('connection refused');
  };
  const key = async (kid: string, algorithm = ES256) => jwks.key(kid, algorithm);
  /** Waits until a fetch in the background has ended. */
  const settle = () => new Promise(setImmediate);
  return { clock, state, jwks, away, key, settle };
}

describe('RFC 7517 section 5: the keys of the issuer', () => {
  test('keys are fetched when first needed, once for concurrent callers', async () => {
    const { state, key } = setup();
    const found = await Promise.all(Array.from({ length: 50 }, () => key('a')));
    expect(found.every((one) => one?.type === 'public')).toBe(true);
    expect(state.fetches).toBe(1);
  });

  test('`ready` fetches the keys, and rejects if the issuer has none', async () => {
    const { clock, state, jwks, away, settle } = setup();
    const { answer } = state;
    state.answer = away;
    await expect(jwks.ready()).rejects.toThrow(KeysUnavailable);
    state.answer = answer;
    clock.advance(1);
    await expect(jwks.ready()).rejects.toThrow(KeysUnavailable); // it also starts a fetch in the background
    await settle();
    await expect(jwks.ready()).resolves.toBeUndefined();
    state.answer = away;
    jwks.renew();
    await settle();
    await expect(jwks.ready()).resolves.toBeUndefined();
  });

  test('a known key is returned synchronously', async () => {
    const { jwks, key } = setup();
    await key('a');
    expect(jwks.key('a', ES256)).not.toBeInstanceOf(Promise);
  });

  test('a key is not returned for another algorithm, and this causes no fetch', async () => {
    const { state, clock, key } = setup();
    await key('a');
    clock.advance(40);
    expect(await key('a', row('RS256'))).toBeUndefined();
    expect(await key('a', row('EdDSA'))).toBeUndefined();
    expect(state.fetches).toBe(1);
  });

  test('keys of unknown kinds, for encryption, or malformed, are skipped', async () => {
    const { state, key } = setup();
    const odd = [null, 'x', 1, [], {}, { kid: 'b' }, { ...B, kid: undefined }, { ...B, kid: 7 }];
    const unfit = [
      { ...B, use: 'enc' },
      { ...B, kty: 'XX' },
      { ...B, x: 'AA' },
    ];
    state.answer = () => ({ keys: [...odd, ...unfit, A] });
    expect(await key('a')).toBeDefined();
    expect(await key('b')).toBeUndefined();
  });

  test('any JSON gives a key or KeysUnavailable', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (document) => {
        const { state, key } = setup();
        state.answer = () => document;
        await expect(key('a')).rejects.toThrow(KeysUnavailable);
      }),
      { numRuns: 50 },
    );
  });
});

describe('unknown kid', () => {
  test('a key with a new kid is found as soon as the cooldown allows', async () => {
    const { state, clock, key } = setup();
    await key('a');
    state.answer = () => ({ keys: [A, B] });
    expect(await key('b')).toBeUndefined();
    clock.advance(30);
    expect(await key('b')).toBeDefined();
    expect(state.fetches).toBe(2);
  });

  test('a flood of unknown kids causes one fetch for each cooldown', async () => {
    const { state, clock, key } = setup();
    await key('a');
    for (let round = 1; round <= 3; round += 1) {
      clock.advance(30);
      const found = await Promise.all(Array.from({ length: 200 }, (_, n) => key(`${round} ${n}`)));
      expect(found.every((one) => one === undefined)).toBe(true);
      for (let n = 0; n < 50; n += 1) await key(`late ${round} ${n}`);
      expect(state.fetches).toBe(1 + round);
    }
  });

  test.each(['__proto__', 'constructor', ''])('the kid %j is unknown', async (kid) => {
    expect(await setup().key(kid)).toBeUndefined();
  });
});

describe('the age of the key set', () => {
  test('after maxAge the set is fetched in the background, for all waiters once', async () => {
    const { state, clock, key, jwks, settle } = setup();
    await key('a');
    clock.advance(299);
    await key('a');
    expect(state.fetches).toBe(1);
    clock.advance(1);
    for (let n = 0; n < 20; n += 1) expect(jwks.key('a', ES256)).not.toBeInstanceOf(Promise);
    await settle();
    expect(state.fetches).toBe(2);
  });

  test('a key that was removed from the set is no longer found', async () => {
    const { state, clock, key, settle } = setup();
    await key('a');
    state.answer = () => ({ keys: [B] });
    clock.advance(300);
    await key('a');
    await settle();
    expect(await key('a')).toBeUndefined();
    expect(await key('b')).toBeDefined();
  });

  test('a key stays the same object until it is replaced under its kid', async () => {
    const { state, clock, key, settle } = setup();
    const first = await key('a');
    state.answer = () => ({ keys: [A, B] });
    clock.advance(300);
    await key('a');
    await settle();
    expect(await key('a')).toBe(first);
    state.answer = () => ({ keys: [{ ...B, kid: 'a' }, B] });
    clock.advance(300);
    await key('a');
    await settle();
    expect((await key('a'))?.equals(first ?? createSecretKey(Buffer.alloc(1)))).toBe(false);
  });
});

describe('the issuer does not answer', () => {
  test.each([
    ['rejects', () => Promise.reject(new Error('reset'))],
    [
      'throws',
      () => {
        throw new Error('bad URL');
      },
    ],
  ])('a fetch that %s is followed by another', async (_, failure) => {
    const { state, clock, key } = setup();
    const { answer } = state;
    state.answer = failure;
    await expect(key('a')).rejects.toThrow(KeysUnavailable);
    state.answer = answer;
    clock.advance(1);
    expect(await key('a')).toBeDefined();
  });

  test('a failed first fetch gives KeysUnavailable, and is retried after a second', async () => {
    const { state, clock, key, away } = setup();
    const { answer } = state;
    state.answer = away;
    await expect(key('a')).rejects.toMatchObject({ name: 'KeysUnavailable', retryAfter: 1 });
    await expect(Promise.all([key('a'), key('b')])).rejects.toThrow(KeysUnavailable);
    expect(state.fetches).toBe(1);
    clock.advance(1);
    state.answer = answer;
    expect(await key('a')).toBeDefined();
    expect(state.fetches).toBe(2);
  });

  test('old keys stay in use, and the issuer is asked once for each cooldown', async () => {
    const { state, clock, key, away, settle } = setup();
    await key('a');
    state.answer = away;
    clock.advance(3600);
    for (let n = 0; n < 10; n += 1) {
      expect(await key('a')).toBeDefined();
      await settle();
    }
    expect(state.fetches).toBe(2);
    clock.advance(30);
    await key('a');
    await settle();
    expect(state.fetches).toBe(3);
  });

  test('an unknown kid gives KeysUnavailable, not a refusal', async () => {
    const { state, clock, key, away } = setup();
    await key('a');
    state.answer = away;
    clock.advance(30);
    await expect(key('b')).rejects.toMatchObject({ retryAfter: 30 });
    await expect(key('c')).rejects.toThrow(KeysUnavailable);
    expect(state.fetches).toBe(2);
  });

  test('an empty set or another document does not remove the known keys', async () => {
    const { state, clock, key, settle } = setup();
    await key('a');
    for (const document of [{ keys: [] }, {}, null, 'a page', { keys: {} }]) {
      state.answer = () => document;
      clock.advance(300);
      await key('a');
      await settle();
      expect(await key('a')).toBeDefined();
    }
  });

  test('old keys are used for a day, the longest life of a token', async () => {
    const { state, clock, key, away } = setup();
    await key('a');
    state.answer = away;
    clock.advance(86_399);
    expect(await key('a')).toBeDefined();
    clock.advance(1);
    await expect(key('a')).rejects.toThrow(KeysUnavailable);
    state.answer = () => ({ keys: [A] });
    clock.advance(30);
    expect(await key('a')).toBeDefined();
  });

  test('a new key is found even if the clock was set back by hours', async () => {
    const { state, clock, key } = setup();
    await key('a');
    state.answer = () => ({ keys: [A, B] });
    clock.advance(-7200);
    expect(await key('b')).toBeDefined();
  });
});

describe('a compromised key', () => {
  test('a compromised key is removed at once and permanently, though the issuer still lists it', async () => {
    const { state, clock, key, jwks, settle } = setup();
    state.answer = () => ({ keys: [A, B] });
    await key('a');
    jwks.drop('a');
    expect(await key('a')).toBeUndefined();
    await settle();
    expect(await key('a')).toBeUndefined();
    clock.advance(300);
    expect(await key('b')).toBeDefined();
    await settle();
    expect(await key('a')).toBeUndefined();
  });

  test('a compromised key causes a fetch of the remaining keys at once, regardless of the cooldown', async () => {
    const { state, key, jwks } = setup();
    await key('a');
    state.answer = () => ({ keys: [B] });
    jwks.drop('a');
    expect(await key('b')).toBeDefined();
    expect(state.fetches).toBe(2);
  });

  test('a compromised key that is dropped during a fetch does not come back with it', async () => {
    const { key, jwks } = setup();
    const waiting = key('a');
    jwks.drop('a');
    expect(await waiting).toBeUndefined();
    expect(await key('a')).toBeUndefined();
  });

  test('a flood of requests for a compromised key causes no fetch', async () => {
    const { state, clock, key, jwks, settle } = setup();
    await key('a');
    jwks.drop('a');
    await settle();
    const { fetches } = state;
    clock.advance(100);
    for (let n = 0; n < 20; n += 1) await key('a');
    expect(state.fetches).toBe(fetches);
  });
});
