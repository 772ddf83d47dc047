import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { epochSeconds, ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { decideDeviceCode, findDeviceCode } from './device-code.ts';
import type { DeviceDecision } from './device-code.ts';

const CODE = 'BCDFGHJK';
const LIFETIME = 600;

const denied = (accountId: string): DeviceDecision => ({
  accountId,
  error: 'access_denied',
  errorDescription: 'the person denied it',
});

describe('decisions about a device code (RFC 8628 section 3.5)', () => {
  let stores: Stores;
  let clock: ManualClock;

  const find = () => findDeviceCode({ stores, clock }, CODE);
  const decide = async (accountId: string) => {
    const code = await find();
    if (code === undefined) throw new Error('no code');
    return () => decideDeviceCode({ stores, clock }, code, denied(accountId));
  };

  beforeEach(async () => {
    clock = new ManualClock();
    stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
    const iat = epochSeconds(clock);
    const payload = {
      jti: 'the code',
      kind: 'DeviceCode',
      clientId: 'tv',
      userCode: CODE,
      iat,
      exp: iat + LIFETIME,
      params: { scope: 'openid' },
    };
    // The store keeps a code longer than it is valid, so that the device is told `expired_token`.
    const seconds = LIFETIME * 2;
    await stores.artefacts.put({ kind: 'DeviceCode', id: 'the code', payload, seconds });
  });

  afterEach(async () => {
    await stores[Symbol.asyncDispose]();
  });

  test('if ten requests read an undecided code at the same time, one of them decides', async () => {
    const decisions = [];
    for (let person = 0; person < 10; person += 1) decisions.push(await decide(`person ${person}`));
    const won = await Promise.all(decisions.map((decideIt) => decideIt()));
    expect(won.filter(Boolean)).toHaveLength(1);
    const winner = `person ${won.indexOf(true)}`;
    expect(await find()).toMatchObject({ accountId: winner, error: 'access_denied' });
  });

  test('a code can be decided in its last second, and not afterwards, though it is still stored', async () => {
    clock.advance(LIFETIME - 1);
    const early = await decide('alice');
    const late = await decide('bob');
    clock.advance(1);
    expect(await late()).toBe(false);
    expect(await find()).toBeUndefined();
    const stored = await stores.artefacts.get('DeviceCode', 'the code');
    expect(stored?.['accountId']).toBeUndefined();
    clock.advance(-1);
    expect(await early()).toBe(true);
  });

  test('a code that the device has used cannot be decided any more', async () => {
    const late = await decide('alice');
    await stores.artefacts.consume('DeviceCode', 'the code');
    expect(await late()).toBe(false);
  });

  test('a decision does not restore a removed code', async () => {
    const late = await decide('alice');
    await stores.artefacts.remove('DeviceCode', 'the code');
    expect(await late()).toBe(false);
    expect(await find()).toBeUndefined();
  });
});
