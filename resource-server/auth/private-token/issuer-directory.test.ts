import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUrl } from '#shared/http/any-uri.fixture.ts';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  AGE,
  askedTimes,
  COOLDOWN,
  endOf,
  first,
  LIFE,
  openTestDirectory,
  second,
  SKEW,
  unavailable,
} from './issuer-directory.fixture.ts';
import { openDirectory } from './issuer-directory.ts';
import { directoryOf, readableLog, WRONG } from './issuer.fixture.ts';

let rsa: TokenKeyPair;
beforeAll(async () => {
  rsa = await generateBlindRsaKey();
});

describe('RFC 9578 section 4: the keys of an issuer', () => {
  test('the keys of an issuer are found by type, in the order of the directory', async () => {
    const answers = directoryOf([second, rsa, first]);
    await using issuer = await openTestDirectory({ answers });
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(await issuer.ids(BLIND_RSA)).toEqual([rsa.id]);
    expect(await issuer.key(rsa)).toMatchObject({ publicKey: rsa.publicKey, until: undefined });
  });

  test('the keys of an issuer are fetched on first use, once for fifty concurrent callers', async () => {
    await using issuer = await openTestDirectory();
    expect(issuer.issuer.asked).toEqual([]);
    const found = await Promise.all(Array.from({ length: 50 }, () => issuer.key(first)));
    expect(found.every((key) => key?.id.equals(first.id))).toBe(true);
    expect(issuer.issuer.asked).toHaveLength(1);
  });

  test('an unsupported type has no keys, and causes no fetch', async () => {
    await using issuer = await openTestDirectory({ types: [BLIND_RSA] });
    expect(await issuer.ids()).toEqual([]);
    expect(await issuer.key(first)).toBeUndefined();
    expect(issuer.issuer.asked).toEqual([]);
  });

  test('keys with equal ids are distinguished by type', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    expect(await issuer.key({ ...first, type: BLIND_RSA })).toBeUndefined();
  });

  test.each([0, 1, 31, 33])('an id of %i octets matches no key', async (length) => {
    await using issuer = await openTestDirectory();
    const id = Buffer.concat([first.id, first.id]).subarray(0, length);
    expect(await issuer.key({ ...first, id })).toBeUndefined();
  });
});

describe('RFC 9578 section 4: not-before', () => {
  test('a key is offered from not-before on, and accepted a little earlier because clocks differ', async () => {
    await using issuer = await openTestDirectory();
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([
      { ...second, notBefore: now + 60 },
      { ...first, notBefore: now },
    ]);
    clock.advance(60 - SKEW - 0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toBeUndefined();
    clock.advance(0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toMatchObject({ until: (now + 60 + LIFE) * 1000 });
    clock.advance(SKEW);
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(issuer.issuer.asked).toHaveLength(1);
  });

  test('a new issuer whose clock is ahead has a key to offer', async () => {
    await using issuer = await openTestDirectory();
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now + SKEW + 1 }]);
    expect(await issuer.ids()).toEqual([]);
    clock.advance(1);
    expect(await issuer.ids()).toEqual([first.id]);
  });

  test('a key ends to the millisecond, even during an outage of the issuer', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([]) });
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now }], `max-age=${LIFE * 2}`);
    expect(await issuer.ids()).toEqual([first.id]);
    issuer.issuer.answers = WRONG['says 500'];
    clock.advance(LIFE - 0.001);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(first)).toMatchObject({ until: (now + LIFE) * 1000 });
    clock.advance(0.001);
    expect(await issuer.key(first)).toBeUndefined();
    await expect(issuer.keys(VOPRF)).rejects.toMatchObject(unavailable(COOLDOWN));
  });

  test('the directory is fetched again when all keys have ended', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([]) });
    const { now, clock } = issuer;
    issuer.issuer.answers = directoryOf([{ ...first, notBefore: now }], 'max-age=86400');
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([{ ...second, notBefore: now + LIFE }]);
    clock.advance(LIFE);
    expect(await issuer.ids()).toEqual([second.id]);
  });
});

describe('rotation', () => {
  test('a new key is found at its first token, once the cooldown allows a fetch', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second, first]);
    expect(await issuer.key(second)).toBeUndefined();
    issuer.clock.advance(COOLDOWN);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.ids()).toEqual([second.id, first.id]);
    expect(issuer.issuer.asked).toHaveLength(2);
  });

  test('fifty unknown ids at once cause one fetch per cooldown', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    for (let round = 1; round <= 3; round += 1) {
      issuer.clock.advance(COOLDOWN);
      const unknown = Array.from({ length: 50 }, () =>
        issuer.key({ ...first, id: systemRandom(32) }),
      );
      expect((await Promise.all(unknown)).every((key) => key === undefined)).toBe(true);
      for (let n = 0; n < 50; n += 1) await issuer.key({ ...first, id: systemRandom(32) });
      expect(issuer.issuer.asked).toHaveLength(1 + round);
    }
  });

  test('a stale directory is fetched in the background, while the old keys are offered', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(AGE - 1);
    expect(await issuer.ids()).toEqual([first.id]);
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.clock.advance(1);
    for (let n = 0; n < 20; n += 1) expect(await issuer.ids()).toEqual([first.id]);
    expect(await issuer.key(second)).toBeDefined();
    expect(issuer.issuer.asked).toHaveLength(2);
  });

  test('a key that was removed or replaced in the directory is no longer accepted', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second]);
    issuer.clock.advance(AGE);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.key(first)).toBeUndefined();
    expect(await issuer.ids()).toEqual([second.id]);
  });

  test('an empty directory is valid, and no key is accepted any more', async () => {
    await using issuer = await openTestDirectory();
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([]);
    issuer.clock.advance(AGE);
    expect(await issuer.key(second)).toBeUndefined();
    await askedTimes(issuer.issuer, 2);
    expect(await issuer.key(first)).toBeUndefined();
    expect(await issuer.ids()).toEqual([]);
  });

  test('a max-age below the cooldown is respected', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([first], 'max-age=1') });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second], 'max-age=1');
    issuer.clock.advance(1);
    await issuer.keys(VOPRF);
    expect(await issuer.key(second)).toBeDefined();
  });

  test('an unknown key causes a fetch of a stale directory, even during the cooldown', async () => {
    await using issuer = await openTestDirectory({ answers: directoryOf([first], 'max-age=2') });
    await issuer.keys(VOPRF);
    issuer.issuer.answers = directoryOf([second, first], 'max-age=2');
    issuer.clock.advance(1.999);
    expect(await issuer.key(second)).toBeUndefined();
    expect(issuer.issuer.asked).toHaveLength(1);
    issuer.clock.advance(0.001);
    expect(await issuer.key(second)).toBeDefined();
    expect(await issuer.key(rsa)).toBeUndefined();
    expect(issuer.issuer.asked).toHaveLength(2);
  });
});

describe('properties of any directory', () => {
  const entry = fc.record(
    {
      'token-type': fc.oneof(fc.constantFrom(1, 2, 0xda7a, '2'), fc.jsonValue()),
      'token-key': fc.oneof(
        fc.constantFrom(encodePadded(first.publicKey), encodePadded(second.publicKey)),
        fc.base64String(),
        fc.jsonValue(),
      ),
      'not-before': fc.oneof(fc.constantFrom(0, 1_800_000_000), fc.double(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const document = fc.oneof(
    fc.jsonValue(),
    fc.record({ 'issuer-request-uri': fc.constant('/r'), 'token-keys': fc.array(entry) }),
    fc.record({ 'issuer-request-uri': anyUrl, 'token-keys': fc.jsonValue() }),
  );

  test('every offered key is in the directory and valid now', async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 1, max: 86_400 }), async (value, maxAge) => {
        const clock = new ManualClock();
        const { log } = readableLog();
        const { keys, key } = openDirectory({
          url: 'https://issuer.example/',
          fetch: async () => ({ document: value, maxAge }),
          types: [BLIND_RSA, VOPRF],
          endOf,
          skew: SKEW,
          cooldown: COOLDOWN,
          clock,
          log,
        });
        const outcomes = await Promise.allSettled([keys(VOPRF), key(VOPRF, first.id)]);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(KeysUnavailable);
          else if (outcome.value !== undefined) {
            for (const one of [outcome.value].flat()) {
              expect(JSON.stringify(value)).toContain(encodePadded(one.publicKey));
              expect(one.until ?? Infinity).toBeGreaterThan(clock.now());
            }
          }
        }
      }),
    );
  });
});
