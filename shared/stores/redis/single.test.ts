import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VOPRF } from '#shared/private-token/token-types.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import type { Redis } from '../../../e2e/parts/redis.ts';
import { storesContract } from '../contract/index.ts';
import {
  edit,
  FAR,
  puts,
  putWith,
  someApiKey,
  someDocument,
  someInvalidation,
  someLock,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
  someVerifier,
  onceFor,
} from '../contract/samples.ts';
import { openPatiently, redisConfig, redisUnderTest } from './under-test.ts';

storesContract('Redis, single', async () => {
  const redis = await startRedis({ password: 'swordfish', appendonly: true });
  return redisUnderTest(redisConfig({ urls: [redis.url] }), [redis], redis);
});

const PERSON = {
  ...somePerson('alice'),
  profile: { emails: [{ address: 'alice@example.com', verified: true }] },
  aliases: ['address:alice@example.com'],
};
const PASSKEY = { ...somePasskey('laptop'), accountId: PERSON.id };
const FACTOR = someSecondFactor(PERSON.id);
const MESSAGE = someOutboxMessage('waiting');

/** Keeps what a person comes in with. */
async function comesIn(stores: Stores): Promise<void> {
  await stores.people.add(PERSON, []);
  await stores.passkeys.add(PASSKEY, 1);
  await stores.secondFactors.add(FACTOR);
  await stores.outbox.add(MESSAGE);
}

async function expectAll(stores: Stores): Promise<void> {
  expect(await stores.people.getByAlias('address:alice@example.com')).toMatchObject(PERSON);
  expect(await stores.passkeys.of(PERSON.id)).toEqual([PASSKEY]);
  expect(await stores.secondFactors.get(PERSON.id)).toEqual(FACTOR);
  const taken = await stores.outbox.take(MESSAGE.created_at, MESSAGE.until, 9);
  expect(taken).toEqual([{ ...MESSAGE, attempt: 1 }]);
}

describe('the keys', () => {
  let redis: Redis;
  let stores: Stores;
  beforeAll(async () => {
    redis = await startRedis();
    stores = await openPatiently(redisConfig({ urls: [redis.url] }));
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  test('begin with the prefix, so that others may share the server', async () => {
    await redis.cli('FLUSHALL');
    const epoch = await stores.revocations.epoch(true);
    await stores.followers.settle(epoch);
    await stores.revocations.raise('person', 'alice', 1);
    await stores.replay.unique('dpop', 'a-jti-of-somebody', 60);
    await stores.limits.spend('sign-in-name', '192.0.2.1', { burst: 2, per: 60 });
    await stores.sessions.put('x', 60);
    await stores.artefacts.put({
      kind: 'DeviceCode',
      id: 'x',
      payload: { uid: 'u', userCode: 'c', grantId: 'g' },
    });
    await stores.artefacts.put({ kind: 'SignIn', id: 'x', payload: { accountId: 'alice' } });
    await stores.people.add(
      {
        ...somePerson('alice'),
        aliases: ['kerberos:alice@EXAMPLE.COM'],
        search_keys: ['email:a@x'],
      },
      [someVerifier('realm')],
    );
    await stores.apiKeys.add(someApiKey('x'));
    await stores.publicKeys.add(somePublicKey('x'), 1);
    await stores.passkeys.add({ ...somePasskey('x'), accountId: 'somebody' }, 1);
    await stores.secondFactors.add(someSecondFactor('somebody'));
    await stores.declared.add({ kind: 'person', id: 'x' });
    await stores.outbox.add(someOutboxMessage('x'));
    await stores.outbox.take(FAR, FAR, 1);
    await stores.useCounts.use('digest', 'a-nonce-of-somebody', 1, onceFor(60));
    await stores.proofs.spend('dpop', 'a-jti-of-somebody', onceFor(60));
    await stores.spentTokens.spend(Buffer.from('a-token-of-somebody'), FAR);
    await stores.tokenKeys.add(someTokenKey(VOPRF, 7), undefined);
    await stores.kept.put('person=somebody', 'x', { seconds: 60, most: 1 });
    await stores.invalidations.add([someInvalidation('x')]);
    await stores.cacheReports.put('a-process', 'x');
    await edit(stores, '/dav?person=a', [
      ...puts(someDocument('x')),
      putWith('y', Buffer.from('short'), { file: 'y' }),
      { kind: 'lock', lock: someLock('x') },
    ]);
    const all = (await redis.cli('KEYS', '*')).split('\n');
    const keys = all.filter((key) => !key.startsWith('{test}:version'));
    expect(keys).toHaveLength(55);
    for (const key of keys) expect(key).toMatch(/^\{?test[:}]/);
    expect(keys.filter((key) => key.startsWith('{test:%2Fdav%3Fperson%3Da}:'))).toHaveLength(7);
    expect(keys.join()).not.toContain('a-jti-of-somebody');
    expect(keys.join()).not.toContain('a-nonce-of-somebody');
    expect(keys.join()).not.toContain('a-token-of-somebody');
    expect(keys.join()).not.toContain('192.0.2.1');
    expect(keys.join()).not.toContain('somebody');
  });

  test('the key of a bucket tells when it is full again: uses that came back by then may be spent', async () => {
    const rate = { burst: 5, per: 100 };
    const spend = () => stores.limits.spend('device-poll', 'x', rate);
    for (let n = 4; n >= 2; n--) expect(await spend()).toMatchObject({ remaining: n });
    const [key = ''] = (await redis.cli('KEYS', 'test:limit:device-poll:*')).split('\n');
    const rest = `
      local arrival = redis.call('GET', KEYS[1]) - ARGV[1] * 1000000
      redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'KEEPTTL')`;
    await redis.cli('EVAL', rest, '1', key, '150');
    expect(await spend()).toEqual({ ok: true, remaining: 2, reset: 250 });
    await redis.cli('EVAL', rest, '1', key, '1000');
    expect(await spend()).toEqual({ ok: true, remaining: 4, reset: 100 });
  });

  test('the key of a grant lives as long as the artefact that lives longest, and no longer', async () => {
    const { artefacts } = stores;
    const put = (id: string, seconds?: number) =>
      artefacts.put({
        kind: 'RefreshToken',
        id,
        payload: { grantId: 'lives' },
        ...(seconds !== undefined && { seconds }),
      });
    const left = async () =>
      Math.ceil(Number(await redis.cli('PTTL', 'test:grant:lives')) / 100_000);
    await put('long', 1000);
    await put('short', 100);
    expect(await left()).toBe(10);
    await artefacts.remove('RefreshToken', 'long');
    expect(await left()).toBe(1);
    await put('for ever');
    expect(await redis.cli('PTTL', 'test:grant:lives')).toBe('-1');
    await artefacts.remove('RefreshToken', 'for ever');
    expect(await left()).toBe(1);
    await artefacts.remove('RefreshToken', 'short');
    expect(await redis.cli('EXISTS', 'test:grant:lives')).toBe('0');
  });

  test('the key of a person lives as long as the longest sign-in, and drops those that ended', async () => {
    const { artefacts } = stores;
    const key = 'test:account:SignIn:lives';
    const put = (id: string, seconds: number) =>
      artefacts.put({ kind: 'SignIn', id, payload: { accountId: 'lives' }, seconds });
    await put('long', 1000);
    await put('short', 100);
    expect(Number(await redis.cli('PTTL', key))).toBeGreaterThan(900_000);
    await redis.cli('ZADD', key, '1', 'SignIn:ended');
    await put('another', 100);
    expect(await redis.cli('ZSCORE', key, 'SignIn:ended')).toBe('');
    expect(await redis.cli('ZCARD', key)).toBe('3');
    await artefacts.remove('SignIn', 'long');
    expect(Number(await redis.cli('PTTL', key))).toBeLessThan(100_001);
  });

  test('one of ten processes that want to close the audit log within a second reads its streams', async () => {
    await redis.cli('DEL', '{test:audit}:turn');
    const asked = await Promise.all(Array.from({ length: 10 }, () => stores.audit.takeTurn()));
    expect(asked.filter(Boolean)).toHaveLength(1);
    const left = Number(await redis.cli('PTTL', '{test:audit}:turn'));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1000);
  });

  test('a crash between index and artefact leaves a name of nothing, which is not listed and can be ended', async () => {
    const { artefacts } = stores;
    await redis.cli('ZADD', 'test:account:Access:crashed', 'inf', 'Access:never');
    await redis.cli('ZADD', 'test:grant:crashed', 'inf', 'Access:never');
    const payload = { accountId: 'crashed', grantId: 'crashed' };
    await artefacts.put({ kind: 'Access', id: 'there', payload, seconds: 60 });
    expect(await artefacts.listByAccount('Access', 'crashed')).toEqual([payload]);
    await artefacts.removeByGrant('crashed');
    expect(await artefacts.listByAccount('Access', 'crashed')).toEqual([]);
    expect(await redis.cli('EXISTS', 'test:grant:crashed')).toBe('0');
  });

  test('they are in a dump that is put back, without the keys that would undo a revocation', async () => {
    // As a backup is made by the tools of Redis.
    await using dumped = await startRedis();
    const config = redisConfig({ urls: [dumped.url] });
    {
      await using before = await openPatiently(config);
      const epoch = await before.revocations.epoch(true);
      await comesIn(before);
      await before.artefacts.put({ kind: 'SignIn', id: 's', payload: { accountId: PERSON.id } });
      await dumped.cli('SAVE');
      await before.secondFactors.useRecovery(PERSON.id, 'mac 1', 1);
      await before.passkeys.removeAll(PERSON.id);
      await before.outbox.remove(MESSAGE.id);
      expect(epoch).toBeDefined();
    }
    await dumped.kill();
    await dumped.start();
    const ended = (await dumped.cli('KEYS', '*:artefact:*')).split('\n');
    expect(ended).toHaveLength(1);
    await dumped.cli('DEL', '{test}:epoch', ...ended);
    await using restored = await openPatiently(config);
    expect(await restored.revocations.epoch(false)).toBeUndefined();
    expect(await restored.artefacts.listByAccount('SignIn', PERSON.id)).toEqual([]);
    await expectAll(restored);
  });

  test('a decision that comes too late writes nothing', async () => {
    await redis.cli('FLUSHALL');
    const replacement = { uid: 'u', userCode: 'c', grantId: 'g', accountId: 'a' };
    const artefact = { kind: 'Access', id: 'late', payload: replacement };
    expect(await stores.artefacts.replace(artefact, {})).toBe(false);
    expect(await redis.cli('KEYS', 'test:*')).toBe('');
  });

  test('RFC 9700 section 4.14.2: an artefact that is written while its grant is removed is removed too', async () => {
    const { artefacts } = stores;
    for (let round = 0; round < 50; round++) {
      const grantId = `race-${round}`;
      // Each removal removes them all: more at once keep Redis busy for longer than a command may take.
      const ids = Array.from({ length: 20 }, (_, n) => `${grantId}-${n}`);
      await Promise.all(
        ids.flatMap((id) => [
          artefacts.put({ kind: 'RefreshToken', id, payload: { grantId }, seconds: 60 }),
          artefacts.removeByGrant(grantId),
        ]),
      );
      await artefacts.removeByGrant(grantId);
      const left = await Promise.all(ids.map((id) => artefacts.get('RefreshToken', id)));
      expect(left.filter((artefact) => artefact !== undefined)).toEqual([]);
    }
  });
});
