import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createAttempts } from './attempts.ts';
import { processOn } from './two-processes.fixture.ts';

const HERE = '192.0.2.1';
const ELSEWHERE = '198.51.100.7';

/** Attempts on a real store; `spent` has the keys that were asked for, by namespace. */
async function setup({ account = 3, address = 100 } = {}) {
  const clock = new ManualClock();
  const { stores } = await processOn(join(await temporaryFolder(), 'data'), clock);
  const spent: [string, string][] = [];
  const process = () =>
    createAttempts({
      limits: {
        spend: (namespace, key, rate) => (
          spent.push([namespace, key]),
          stores.limits.spend(namespace, key, rate)
        ),
      },
      account: { burst: account, per: 60 },
      address: { burst: address, per: 60 },
    });
  const attempts = process();
  return {
    clock,
    spent,
    process,
    attempts,
    /** How many of so many wrong attempts at once are looked at. */
    async guess(count: number, name = 'alice', from = HERE) {
      const begun = await Promise.all(
        Array.from({ length: count }, async () => (await attempts.begin(name, from)) === undefined),
      );
      const looked = begun.filter(Boolean);
      for (const _ of looked) attempts.failed(name, from);
      return looked.length;
    },
    async enter(name = 'alice', from = HERE) {
      const ok = (await attempts.begin(name, from)) === undefined;
      if (ok) attempts.succeeded(name, from);
      return ok;
    },
  };
}

describe('guesses', () => {
  test('ten guesses at the same time: as many as the burst are checked, then one for each refill', async () => {
    const { guess, clock } = await setup();
    expect(await guess(10)).toBe(3);
    expect(await guess(10)).toBe(0);
    clock.advance(60);
    expect(await guess(10)).toBe(1);
  });

  test('guesses from many addresses share the limit of the account', async () => {
    const { attempts } = await setup();
    const begun = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => attempts.begin('alice', `192.0.2.${n}`)),
    );
    expect(begun.filter((tooMany) => tooMany === undefined)).toHaveLength(3);
    expect(begun.at(-1)).toMatchObject({ kind: 'unavailable', status: 429, retryAfter: 60 });
  });

  test('guesses at many accounts from one IPv6 network share the limit of the network', async () => {
    const { attempts, spent } = await setup({ address: 4 });
    const begun = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => attempts.begin(`name-${n}`, `2001:db8::${n}`)),
    );
    expect(begun.filter((tooMany) => tooMany === undefined)).toHaveLength(4);
    // An exhausted limit of the address uses up no attempt of an account.
    const accounts = spent.filter(([namespace]) => namespace === 'credentials-account');
    expect(accounts).toHaveLength(4);
  });

  test('guesses through two processes share the limits', async () => {
    const { attempts, process } = await setup();
    const other = process();
    const begun = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => (n % 2 ? attempts : other).begin('alice', HERE)),
    );
    expect(begun.filter((tooMany) => tooMany === undefined)).toHaveLength(3);
  });

  test('guesses at unknown and very long names use up attempts, under keys of one length', async () => {
    const { guess, spent } = await setup();
    for (const name of ['', 'x'.repeat(60_000), '__proto__', 'a b', 'a\0b', 'a']) {
      expect(await guess(5, name)).toBe(3);
    }
    const keys = spent.filter(([namespace]) => namespace === 'credentials-account');
    expect(new Set(keys.map(([, key]) => key.length))).toEqual(new Set([43]));
    expect(new Set(keys.map(([, key]) => key)).size).toBe(6);
  });

  test('if the store does not answer, an attempt is neither allowed nor refused', async () => {
    const attempts = createAttempts({
      limits: { spend: () => Promise.reject(new StoreUnavailable('down')) },
      account: { burst: 1, per: 1 },
      address: { burst: 1, per: 1 },
    });
    await expect(attempts.begin('alice', HERE)).rejects.toThrow(StoreUnavailable);
  });
});

describe('an account that signed in a short time ago', () => {
  test('an account that signed in uses up no attempt, and guesses from elsewhere do not lock it out', async () => {
    const { enter, guess, spent } = await setup();
    expect(await enter()).toBe(true);
    expect(await guess(10, 'alice', ELSEWHERE)).toBe(2);
    spent.length = 0;
    for (let n = 0; n < 500; n += 1) expect(await enter()).toBe(true);
    expect(spent).toEqual([]);
  });

  test('an account that signed in may send as many requests at the same time as a browser does', async () => {
    const { enter } = await setup();
    await enter();
    const together = await Promise.all(Array.from({ length: 100 }, () => enter()));
    expect(together).not.toContain(false);
  });

  test('an account that signed in uses up an attempt from another address, with another name, and in another process', async () => {
    const { attempts, process, enter, spent } = await setup();
    await enter();
    spent.length = 0;
    await attempts.begin('alice', ELSEWHERE);
    await attempts.begin('alic', HERE);
    await process().begin('alice', HERE);
    expect(spent).toHaveLength(6);
  });

  test('an account that signed in uses up attempts again after a failure, until it signs in', async () => {
    const { attempts, enter, spent } = await setup({ account: 100 });
    await enter();
    await attempts.begin('alice', HERE);
    attempts.failed('alice', HERE);
    spent.length = 0;
    await attempts.begin('alice', HERE);
    expect(spent).toHaveLength(2);
    attempts.failed('alice', HERE);
    await enter();
    expect(spent).toHaveLength(4);
    await enter();
    expect(spent).toHaveLength(4);
  });

  test('at most 102 of 1000 guesses from the address of a signed-in account are checked', async () => {
    const { enter, guess } = await setup();
    await enter();
    expect(await guess(1000)).toBe(100 + 2);
    expect(await guess(1000)).toBe(0);
  });

  test('a success that began before a failure makes no later guess free', async () => {
    const { attempts, enter } = await setup();
    await enter();
    let looks = 0;
    for (let n = 0; n < 20; n += 1) {
      const underWay = await attempts.begin('alice', HERE);
      if ((await attempts.begin('alice', HERE)) === undefined) {
        looks += 1;
        attempts.failed('alice', HERE);
      }
      if (underWay === undefined) attempts.succeeded('alice', HERE);
    }
    expect(looks).toBeLessThanOrEqual(3);
  });
});

describe('queues of slow work', () => {
  const request = (address: string) => ({
    peer: { address, connection: {}, http2: false, trusted: false },
  });

  test('work waits in the queue of a signed-in account until a sign-in fails, otherwise in that of the address', async () => {
    const { attempts, enter } = await setup();
    const groups = (address: string) => attempts.turn('alice', request(address)).groups;
    expect(groups(HERE)).toEqual(['addresses', '192.0.2', HERE]);
    await enter();
    expect(groups(HERE)).toEqual(['accounts', 'alice']);
    expect(groups(ELSEWHERE)).toEqual(['addresses', '198.51.100', ELSEWHERE]);
    attempts.failed('alice', HERE);
    expect(groups(HERE)).toEqual(['addresses', '192.0.2', HERE]);
  });

  test('IPv6 addresses share queues by their networks of 48 and 64 bits', async () => {
    const { attempts } = await setup();
    const { groups } = attempts.turn('alice', request('2001:db8:1:2::3'));
    expect(groups).toEqual(['addresses', '2001:db8:1::/48', '2001:db8:1:2::/64']);
  });
});
