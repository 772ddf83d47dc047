/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { payForGuess } from './guesses.ts';

const HERE = '192.0.2.1';

describe('guesses of user codes (RFC 8628 section 5.1)', () => {
  let data: string;
  let clock: ManualClock;
  let stores: Stores;

  const open = async (burst: number) => {
    const config = configSchema.parse({ data, limits: { userCode: { burst, per: 60 } } });
    const parts = { clock, random: systemRandom, log: silentLog, longestLife: 600 };
    stores = await openStores(config, parts);
    const pay = async (accountId: string, address = HERE) =>
      (await payForGuess({ stores, config }, accountId, address)).ok;
    const payTimes = async (times: number, accountId: string, address = HERE) => {
      const paid = await Promise.all(Array.from({ length: times }, () => pay(accountId, address)));
      return paid.filter(Boolean).length;
    };
    return { pay, payTimes, full: () => payForGuess({ stores, config }, 'alice', HERE) };
  };

  beforeEach(async () => {
    data = await storeFolder();
    clock = new ManualClock();
  });

  afterEach(async () => {
    await stores[Symbol.asyncDispose]();
  });

  test('if twenty lookups are made at once, exactly the burst is allowed', async () => {
    const { payTimes, full } = await open(10);
    expect(await payTimes(20, 'alice')).toBe(10);
    expect(await full()).toEqual({ ok: false, retryAfter: 60 });
  });

  test('after the limit is spent, each period allows one more attempt, and no more', async () => {
    const { pay, payTimes } = await open(10);
    await payTimes(10, 'alice');
    clock.advance(59);
    expect(await pay('alice')).toBe(false);
    clock.advance(1);
    expect(await payTimes(3, 'alice')).toBe(1);
  });

  test('a person gets no more lookups from another IP address', async () => {
    const { pay, payTimes } = await open(10);
    await payTimes(10, 'alice');
    expect(await pay('alice', '192.0.2.2')).toBe(false);
  });

  test('a guesser at an IP address does not use up the limits of other people there', async () => {
    const { pay, payTimes } = await open(1);
    expect(await payTimes(100, 'mallory')).toBe(1);
    expect(await pay('alice')).toBe(true);
  });

  test('after ten guessers at an IP address, each other person there has a limit of three lookups', async () => {
    const { pay, payTimes } = await open(5);
    for (let guesser = 0; guesser < 10; guesser += 1) await payTimes(5, `guesser ${guesser}`);
    expect(await payTimes(5, 'alice')).toBe(3);
    expect(await pay('bob')).toBe(true);
    expect(await payTimes(5, 'carol', '192.0.2.2')).toBe(5);
  });

  test('while guessers use up an IP address, each person there gets at least one lookup per hour', async () => {
    const { payTimes } = await open(1);
    for (let guesser = 0; guesser < 10; guesser += 1) await payTimes(1, `guesser ${guesser}`);
    let paid = 0;
    for (let minute = 0; minute < 240; minute += 1) {
      // A guesser uses the tokens that the bucket of the address gets back.
      await payTimes(1, `guesser ${minute % 10}`);
      paid += await payTimes(1, 'alice');
      clock.advance(60);
    }
    expect(paid).toBeGreaterThanOrEqual(3);
    expect(paid).toBeLessThanOrEqual(3 + 4);
  });
});
