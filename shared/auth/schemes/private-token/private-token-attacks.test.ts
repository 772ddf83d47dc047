/** @slow */
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Clock, ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { parseChallenge } from '#shared/private-token/token-challenge.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { spaceOf } from '../../judge/judge.fixture.ts';
import { judge } from '../../judge/judge.ts';
import {
  answerTo,
  challengeBytes,
  END,
  endingAt,
  granted,
  KEYS,
  LIFE,
  memoryIssuer,
  NAMED,
  NO_CHALLENGE,
  NO_END,
  NO_KEY,
  NO_TOKEN,
  offBy,
  openStores,
  originOf,
  OTHER_KEYS,
  refused,
  SKEW,
  START,
  tokenOf,
  issuerAndOrigin,
  USED,
  WRONG,
} from './private-token.fixture.ts';

describe('RFC 9577 section 2.2.1: octets that are no token, or a token for another place', () => {
  test.each([
    ['no parameters', 'PrivateToken'],
    ['another parameter', 'PrivateToken tokens="AAAA"'],
    ['a token68', 'PrivateToken AAAA'],
    ['half the padding', 'PrivateToken token="AA="'],
    ['too much padding', 'PrivateToken token="AAAA===="'],
    ['spare bits', 'PrivateToken token="AB=="'],
    ['the other alphabet', 'PrivateToken token="+/+/"'],
    ['a space', 'PrivateToken token="AAAA AAAA"'],
    ['twice', 'PrivateToken token="AAAA", token="AAAA"'],
  ])('malformed credentials get 401: %s', async (_, credentials) => {
    const { scheme } = await issuerAndOrigin();
    const outcome = await judge(spaceOf([scheme]), requestOf([['Authorization', credentials]]));
    expect(outcome).toMatchObject({ kind: 'answer', status: 401 });
  });

  test('a token of a megabyte is refused, as are all tokens of a wrong length', async () => {
    const { redeem, issuer } = await issuerAndOrigin();
    expect(await redeem(Buffer.alloc(1_000_000))).toEqual(NO_TOKEN);
    expect(await redeem(Buffer.alloc(0))).toEqual(NO_TOKEN);
    expect(issuer.state.verified).toBe(0);
  });

  test.each(NAMED)(
    '%s: a token is refused if it is truncated anywhere, or has octets behind it',
    async (_, type) => {
      const { get, redeem, issuer } = await issuerAndOrigin();
      const token = await get(type);
      for (let length = 0; length < token.length; length++) {
        expect(await redeem(token.subarray(0, length))).toEqual(NO_TOKEN);
      }
      for (const more of [1, 2, 48, 208, token.length]) {
        expect(await redeem(Buffer.concat([token, Buffer.alloc(more)]))).toEqual(NO_TOKEN);
      }
      expect(issuer.state.verified).toBe(0);
      expect(await redeem(token)).toEqual(granted);
    },
  );

  // VOPRF takes 20 ms for each token, so only some octets are changed here; verification-by-store.test.ts changes a
  // bit of every octet.
  test.each([
    ['voprf-p384: with octets of each field', VOPRF, 16],
    ['blind-rsa-2048: with any octet', BLIND_RSA, 1],
  ] as const)(
    '%s changed, a token is refused, and the unchanged token stays valid',
    async (_, type, step) => {
      const { get, redeem } = await issuerAndOrigin();
      const token = await get(type);
      const fields: [from: number, verdict: object][] = [
        [0, NO_TOKEN],
        [2, WRONG],
        [34, NO_CHALLENGE],
        [66, NO_KEY],
        [98, WRONG],
      ];
      const expectations = fields.flatMap(([from, verdict], index) => {
        const [to = token.length] = fields[index + 1] ?? [];
        return Array.from({ length: to - from }, (__, n) => ({ at: from + n, n, verdict }));
      });
      expect(expectations).toHaveLength(token.length);
      for (const { at, n, verdict } of expectations) {
        if (verdict === WRONG && n % step > 0) continue;
        const bits = n === 0 && step === 1 ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8];
        for (const bit of bits) {
          const flipped = Buffer.from(token);
          flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
          expect(await redeem(flipped)).toEqual(verdict);
        }
      }
      expect(await redeem(token)).toEqual(granted);
    },
  );

  test('a token is refused with the number, the challenge or the key of the other type', async () => {
    const { get, redeem, at, challengeOf } = await issuerAndOrigin();
    for (const [type, other] of [
      [VOPRF, BLIND_RSA],
      [BLIND_RSA, VOPRF],
    ] as const) {
      const [token, ofOther] = [await get(type), await get(other)];
      const swapped = Buffer.concat([Buffer.of(0, other), token.subarray(2)]);
      expect(await redeem(swapped)).toEqual(NO_TOKEN);
      const authenticator = ofOther.subarray(98);
      expect(await redeem(Buffer.concat([swapped.subarray(0, 98), authenticator]))).toEqual(
        NO_CHALLENGE,
      );
      const digest = ofOther.subarray(34, 66);
      const nonce = token.subarray(2, 34);
      const keyId = token.subarray(66, 98);
      const typed = Buffer.concat([Buffer.of(0, other), nonce, digest, keyId, authenticator]);
      expect(await redeem(typed)).toEqual(NO_KEY);
      const sole = at({ space: { types: [other] } });
      expect(await sole.redeem(token)).toEqual(NO_TOKEN);
      await expect(sole.challengeOf(type)).rejects.toThrow('no challenge of that type');
      expect(parseChallenge(challengeBytes(await challengeOf(type)))?.type).toBe(type);
    }
  });

  test.each(NAMED)('%s: a token for another site, issuer or window is refused', async (_, type) => {
    const { get, at, redeem, issuer } = await issuerAndOrigin();
    const elsewhere = [
      at({ space: { url: 'https://evil.example/tokens/' } }),
      at({ space: { url: 'https://rs.example:3443/tokens/' } }),
      at({ space: { origins: ['other.example'] } }),
      at({ issuer: memoryIssuer(KEYS, 'other.example').issuer }),
      at({ space: { window: 60 } }),
    ];
    const good = await get(type);
    for (const origin of elsewhere) {
      expect(await redeem(await get(type, origin))).toEqual(NO_CHALLENGE);
      expect(await origin.redeem(good)).toEqual(NO_CHALLENGE);
    }
    expect(issuer.state.verified).toBe(0);
    expect(await redeem(good)).toEqual(granted);
  });

  test('without a window a token is accepted in every space of the origin, but only once in total', async () => {
    const { get, at, redeem } = await issuerAndOrigin();
    const space = at({ space: { url: 'https://rs.example/elsewhere/' } });
    const token = await get(VOPRF);
    expect(await space.redeem(token)).toEqual(granted);
    expect(await redeem(token)).toEqual(USED);
  });

  test('with a window a token is accepted only in the space that asked for it', async () => {
    const { get, at, redeem } = await issuerAndOrigin({ space: { window: 60 } });
    const space = at({ space: { window: 60, url: 'https://rs.example/elsewhere/' } });
    expect(await space.redeem(await get(VOPRF))).toEqual(NO_CHALLENGE);
    expect(await redeem(await get(VOPRF))).toEqual(granted);
  });

  test.each(NAMED)(
    "%s: a token signed with a key of another issuer is refused, under either key's id",
    async (_, type) => {
      const { get, redeem } = await issuerAndOrigin();
      const pair = OTHER_KEYS.find((key) => key.type === type);
      const own = KEYS.find((key) => key.type === type);
      if (pair === undefined || own === undefined) throw new Error('no keys');
      const digest = (await get(type)).subarray(34, 66);
      expect(await redeem(tokenOf(pair, digest))).toEqual(NO_KEY);
      expect(await redeem(tokenOf({ ...pair, id: own.id }, digest))).toEqual(WRONG);
    },
  );
});

describe('RFC 9577 section 5.2: replays, and the end of tokens', () => {
  test.each(NAMED)(
    '%s: a token is refused from the millisecond in which its key ends, and if its key was retired',
    async (_, type) => {
      const { get, redeem, clock, issuer } = await issuerAndOrigin();
      const [early, late, retired] = [await get(type), await get(type), await get(type)];
      clock.advance(LIFE - 0.001);
      expect(await redeem(early)).toEqual(granted);
      clock.advance(0.001);
      expect(await redeem(late)).toEqual(NO_END);
      issuer.keys.splice(0);
      expect(await redeem(retired)).toEqual(NO_KEY);
    },
  );

  test('a token is refused if neither its key nor its space has an end', async () => {
    const { get, redeem, issuer } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    issuer.keys.splice(0, 2, ...issuer.keys.map((key) => endingAt(undefined, key)));
    expect(await redeem(token)).toEqual(NO_END);
    expect(issuer.state.verified).toBe(0);
  });

  test.each([
    ['without a window', {}, END],
    ['with one that ends before the key', { space: { window: 300 } }, START + 600_000],
    ['with one that ends after it', { space: { window: 1000 } }, END],
  ])(
    '%s: a spent token is refused for as long as any process could accept it',
    async (_, options, end) => {
      const { get, at, redeem, clock, stores } = await issuerAndOrigin(options);
      const behind = at({ clock: offBy(clock, -SKEW) });
      const token = await get(BLIND_RSA);
      expect(await redeem(token)).toEqual(granted);
      for (const time of [end - 1, end, end + SKEW * 1000 - 1, end + SKEW * 1000, end + 1e8]) {
        clock.advance((time - clock.now()) / 1000);
        await stores.sweep();
        for (const origin of [at(), behind])
          expect((await origin.redeem(token)).kind).toBe('refused');
      }
    },
  );

  test('a token of a window is accepted once, whenever it is replayed, even if two clocks differ', async () => {
    const WINDOW = 10_000;
    const truth = new ManualClock();
    const moveTo = (time: number) => truth.advance((time - truth.now()) / 1000);
    const clocks = [truth, offBy(truth, SKEW)];
    const { issuer } = memoryIssuer(KEYS.map((key) => endingAt(undefined, key)));
    const space = { window: WINDOW / 1000 };

    const processesOn = async (storeClock: Clock) => {
      const stores = await openStores(await storeFolder(), storeClock);
      const processes = clocks.map((clock) => ({
        clock,
        ...originOf({ issuer, stores, clock, space }),
      }));
      return { stores, one: fc.constantFrom(...processes) };
    };
    const groups = fc.constantFrom(await processesOn(truth), await processesOn(clocks[1] ?? truth));
    const boundaries = [-10, -5, 0, 5, 10, 15, 20, 25].map((seconds) => seconds * 1000);
    const moments = fc.oneof(
      fc.integer({ min: -15_000, max: 45_000 }),
      fc.constantFrom(...boundaries, ...boundaries.map((time) => time - 1)),
    );
    const stories = groups.chain(({ stores, one }) =>
      fc.record({
        stores: fc.constant(stores),
        asking: one,
        attempts: fc.array(fc.record({ at: moments, by: one }), { minLength: 1, maxLength: 7 }),
        // A moment within the window by either clock, so that exactly one attempt succeeds.
        amid: fc.record({ at: fc.integer({ min: 0, max: WINDOW }), by: one }),
      }),
    );

    await fc.assert(
      fc.asyncProperty(stories, async ({ stores, asking, attempts, amid }) => {
        moveTo(truth.now() + 100_000);
        const token = answerTo(await asking.challengeOf(BLIND_RSA), KEYS);
        const begins = Math.floor(asking.clock.now() / WINDOW) * WINDOW;
        let once = false;
        for (const { at, by } of [...attempts, amid].toSorted((a, b) => a.at - b.at)) {
          moveTo(begins + at);
          await stores.sweep();
          const age = by.clock.now() - begins;
          const passes: boolean = !once && age >= -WINDOW && age < 2 * WINDOW;
          expect((await by.redeem(token)).kind).toBe(passes ? 'granted' : 'refused');
          once ||= passes;
        }
        expect(once).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('a token whose end comes during its verification is refused, and is not spent', async () => {
    const { get, redeem, clock, issuer } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    issuer.state.meanwhile = () => clock.advance(LIFE);
    expect(await redeem(token)).toEqual(refused(refuse('private-token-ended')));
    clock.advance(-LIFE);
    issuer.state.meanwhile = () => undefined;
    expect(await redeem(token)).toEqual(granted);
  });

  test('a token whose key is unknown after the spending is refused, since the store may have been restored meanwhile', async () => {
    const { get, at, stores, issuer } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    const spend = async (name: Uint8Array, until: number) => {
      issuer.keys.length = 0;
      return stores.spentTokens.spend(name, until);
    };
    const restored = at({ stores: { limits: stores.limits, spentTokens: { spend } } });
    expect(await restored.redeem(token)).toEqual(refused(refuse('private-token-forgotten')));
  });

  test('a spent token is refused by a process whose clock is behind and that stalls before it spends the token', async () => {
    const { get, at, redeem, clock, folder, stores } = await issuerAndOrigin();
    const token = await get(BLIND_RSA);
    expect(await redeem(token)).toEqual(granted);
    clock.advance(LIFE + SKEW - 0.001);
    let stalled = 0;
    const slow = offBy(clock, -SKEW);
    const its = await openStores(folder, slow);
    const behind = at({
      clock: slow,
      stores: {
        limits: its.limits,
        spentTokens: {
          async spend(name, until) {
            stalled += 1;
            clock.advance(SKEW);
            await stores.sweep();
            return its.spentTokens.spend(name, until);
          },
        },
      },
    });
    expect(await behind.redeem(token)).toEqual(USED);
    expect(stalled).toBe(1);
  });

  test('section 2.2.3: a token is spent only after its verification, so that a forgery cannot use up a real token', async () => {
    const { get, redeem } = await issuerAndOrigin();
    const token = await get(VOPRF);
    const forged = Buffer.concat([token.subarray(0, 98), Buffer.alloc(48)]);
    for (let n = 0; n < 5; n++) expect(await redeem(forged)).toEqual(WRONG);
    expect(await redeem(token)).toEqual(granted);
  });
});
