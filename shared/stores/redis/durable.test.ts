import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import type { Redis } from '../../../e2e/parts/redis.ts';
import {
  FAR,
  NO_QUOTA,
  puts,
  someApiKey,
  someClient,
  someDocument,
  someInvalidation,
  someKey,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
  onceFor,
} from '../contract/samples.ts';
import { someSubscription } from '../contract/push/samples.ts';
import { openTestRedis, redisConfig, someClaims } from './under-test.ts';

let master: Redis;
let replica: Redis;
let stores: Stores;
/** The same store, and nobody waits for a replica. */
let careless: Stores;

beforeAll(async () => {
  master = await startRedis({ settings: ['min-replicas-to-write 1'] });
  replica = await startRedis({ replicaOf: master.port });
  await until(async () => (await master.cli('WAIT', '1', '1000')) === '1');
  stores = await openTestRedis(redisConfig({ urls: [master.url], replicas: 1 }));
  careless = await openTestRedis(redisConfig({ urls: [master.url] }));
});
afterAll(async () => {
  await careless[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
  await replica[Symbol.asyncDispose]();
  await master[Symbol.asyncDispose]();
});

const artefact = { kind: 'Access', id: 'grant', payload: { grantId: 'grant', accountId: 'alice' } };
const refresh = { kind: 'RefreshToken', id: 'r', payload: { grantId: 'other' } };
const tokenKey = someTokenKey(VOPRF, 7);
const leaving = somePerson('leaving');
const person = somePerson('alice');
const bell = someSubscription({ id: 'bell' });
const LIMITS = { messages: 9, receipts: 9 };
/** Ids begin as that of their subscription does. */
const message = (id: string) => ({
  id: `b-${id}`,
  subscription: bell.id,
  urgency: 'normal' as const,
  body: Buffer.from('sealed'),
  posted_at: 0,
  until: FAR,
});
const opened = (id: string) => ({ id: `b-${id}`, subscription: bell.id, until: FAR });

/** Each with what has to be there before. */
const ACKNOWLEDGED: Readonly<Record<string, [() => unknown, (on: Stores) => Promise<unknown>]>> = {
  'apiKeys.add': [() => {}, (on) => on.apiKeys.add(someApiKey('added'))],
  'apiKeys.expire': [
    () => careless.apiKeys.add(someApiKey('ended')),
    (on) => on.apiKeys.expire('ended', 7),
  ],
  'apiKeys.replace': [
    () => careless.apiKeys.add(someApiKey('replaced')),
    (on) => on.apiKeys.replace({ ...someApiKey('replaced'), scopes: [] }, someApiKey('replaced')),
  ],
  'apiKeys.remove': [
    () => careless.apiKeys.add(someApiKey('removed')),
    (on) => on.apiKeys.remove('removed'),
  ],
  'artefacts.put': [
    () => {},
    (on) => on.artefacts.put({ kind: 'Session', id: 's', payload: { uid: 'u' } }),
  ],
  'artefacts.consume': [
    () => careless.artefacts.put(refresh),
    (on) => on.artefacts.consume(refresh.kind, refresh.id),
  ],
  'artefacts.settle': [
    () => careless.artefacts.consume(refresh.kind, refresh.id, { attempt: 'a' }),
    (on) => on.artefacts.settle(refresh.kind, refresh.id, 'a'),
  ],
  'artefacts.replace': [
    () => careless.artefacts.put({ kind: 'DeviceCode', id: 'd', payload: { userCode: 'c' } }),
    (on) =>
      on.artefacts.replace(
        { kind: 'DeviceCode', id: 'd', payload: { userCode: 'c', approved: true } },
        { userCode: 'c' },
      ),
  ],
  'artefacts.remove': [
    () => careless.artefacts.put({ kind: 'Grant', id: 'g', payload: {} }),
    (on) => on.artefacts.remove('Grant', 'g'),
  ],
  'artefacts.removeByGrant': [
    () => careless.artefacts.put(artefact),
    (on) => on.artefacts.removeByGrant('grant'),
  ],
  'clients.add': [() => {}, (on) => on.clients.add(someClient('added'))],
  'clients.replace': [
    () => careless.clients.add(someClient('replaced')),
    (on) => on.clients.replace(someClient('replaced')),
  ],
  'clients.remove': [
    () => careless.clients.add(someClient('removed')),
    (on) => on.clients.remove('removed'),
  ],
  'invalidations.add': [() => {}, (on) => on.invalidations.add([someInvalidation('x')])],
  'kept.put': [() => {}, (on) => on.kept.put('alice', 'x', { seconds: 60, most: 1 })],
  'keys.add': [() => {}, (on) => on.keys.add(someKey('added', 'ES256'))],
  'keys.remove': [
    () => careless.keys.add(someKey('removed', 'ES256')),
    (on) => on.keys.remove('removed'),
  ],
  'people.add': [() => {}, (on) => on.people.add(somePerson('bob'))],
  'people.replace': [
    () => careless.people.add(person),
    (on) => on.people.replace({ ...person, disabled: true, version: 1 }),
  ],
  'people.remove': [() => careless.people.add(leaving), (on) => on.people.remove(leaving)],
  'push.subscribe': [() => {}, (on) => on.push.subscribe(someSubscription({ id: 'another' }), 9)],
  'push.post': [
    () => careless.push.subscribe(bell, 9),
    (on) => on.push.post(message('posted'), LIMITS),
  ],
  'push.acknowledge': [
    () => careless.push.post(message('acknowledged'), LIMITS),
    (on) => on.push.acknowledge('b-acknowledged'),
  ],
  'push.openReceipts': [() => {}, (on) => on.push.openReceipts(opened('opened'), 9)],
  'push.closeReceipts': [
    () => careless.push.openReceipts(opened('closed'), 9),
    (on) => on.push.closeReceipts('b-closed'),
  ],
  'push.unsubscribe': [
    () => careless.push.subscribe(someSubscription({ id: 'ended' }), 9),
    (on) => on.push.unsubscribe('ended'),
  ],
  'passkeys.add': [() => {}, (on) => on.passkeys.add(somePasskey('added'), 1)],
  'passkeys.use': [
    () => careless.passkeys.add(somePasskey('used'), 1),
    (on) => on.passkeys.use('used', { counter: 9, backedUp: true, at: 7 }),
  ],
  'passkeys.rename': [
    () => careless.passkeys.add(somePasskey('renamed'), 1),
    (on) => on.passkeys.rename('owner of renamed', 'renamed', 'Phone'),
  ],
  'passkeys.remove': [
    () => careless.passkeys.add(somePasskey('removed'), 1),
    (on) => on.passkeys.remove('owner of removed', 'removed', 0),
  ],
  'passkeys.removeAll': [
    () => careless.passkeys.add(somePasskey('left'), 1),
    (on) => on.passkeys.removeAll('owner of left'),
  ],
  'declared.add': [() => {}, (on) => on.declared.add({ kind: 'person', id: 'added' })],
  'declared.remove': [
    () => careless.declared.add({ kind: 'person', id: 'removed' }),
    (on) => on.declared.remove({ kind: 'person', id: 'removed' }),
  ],
  'outbox.add': [() => {}, (on) => on.outbox.add(someOutboxMessage('added'))],
  'outbox.take': [
    () => careless.outbox.add(someOutboxMessage('taken')),
    (on) => on.outbox.take(someOutboxMessage('taken').created_at, FAR, 1000),
  ],
  'outbox.postpone': [
    () => careless.outbox.add(someOutboxMessage('postponed')),
    (on) => on.outbox.postpone('postponed', FAR),
  ],
  'outbox.remove': [
    () => careless.outbox.add(someOutboxMessage('removed')),
    (on) => on.outbox.remove('removed'),
  ],
  'secondFactors.add': [() => {}, (on) => on.secondFactors.add(someSecondFactor('added'))],
  'secondFactors.setUp': [
    () => {},
    (on) =>
      on.secondFactors.setUp({ factor: someSecondFactor('set up'), generation: 0, until: FAR }),
  ],
  'secondFactors.useStep': [
    () => careless.secondFactors.add(someSecondFactor('used')),
    (on) => on.secondFactors.useStep('used', 'set-up of used', 9, 7),
  ],
  'secondFactors.useRecovery': [
    () => careless.secondFactors.add(someSecondFactor('recovered')),
    (on) => on.secondFactors.useRecovery('recovered', 'mac 1', 7),
  ],
  'secondFactors.renewRecovery': [
    () => careless.secondFactors.add(someSecondFactor('renewed')),
    (on) => on.secondFactors.renewRecovery(someSecondFactor('renewed'), ['x']),
  ],
  'secondFactors.remove': [
    () => careless.secondFactors.add(someSecondFactor('removed')),
    (on) => on.secondFactors.remove('removed'),
  ],
  'publicKeys.add': [() => {}, (on) => on.publicKeys.add(somePublicKey('added'), 1)],
  'publicKeys.signOut': [
    () => careless.publicKeys.add(somePublicKey('signed out'), 1),
    (on) => on.publicKeys.signOut('signed out', 7),
  ],
  'publicKeys.remove': [
    () => careless.publicKeys.add(somePublicKey('removed'), 1),
    (on) => on.publicKeys.remove('removed'),
  ],
  'lastBackup.note': [() => {}, (on) => on.lastBackup.note(7)],
  'replay.unique': [() => {}, (on) => on.replay.unique('dpop', 'x', 60)],
  'revocations.revoke': [() => {}, (on) => on.revocations.revoke('token', 'x', FAR)],
  'revocations.raise': [() => {}, (on) => on.revocations.raise('person', 'x', FAR)],
  'revocations.epoch': [() => {}, (on) => on.revocations.epoch(true)],
  'sessions.put': [() => {}, (on) => on.sessions.put('x', 60, 'put')],
  'sessions.take': [
    () => careless.sessions.put('x', 60, 'taken'),
    (on) => on.sessions.take('taken'),
  ],
  'spentTokens.spend': [() => {}, (on) => on.spentTokens.spend(Buffer.from('x'), FAR)],
  'tokenKeys.add': [() => {}, (on) => on.tokenKeys.add(tokenKey, undefined)],
  'tokenKeys.retire': [() => {}, (on) => on.tokenKeys.retire(VOPRF, tokenKey.id)],
  'tokenKeys.recall': [() => {}, (on) => on.tokenKeys.recall()],
  'tokenKeys.remove': [() => {}, (on) => on.tokenKeys.remove(VOPRF, tokenKey.id)],
  'trees.commit': [
    () => {},
    (on) =>
      on.trees.commit('a', {
        seen: new Map(),
        locksVersion: '0',
        edits: puts(someDocument('x')),
        quota: NO_QUOTA,
      }),
  ],
  'useCounts.use': [() => {}, (on) => on.useCounts.use('digest', 'x', 1, onceFor(60))],
};

/** Runs all verbs at once while the replica does not answer, and returns their outcomes. */
async function alone(verbs: Readonly<Record<string, (on: Stores) => Promise<unknown>>>) {
  replica.hang();
  try {
    const outcomes = Object.entries(verbs).map(async ([name, verb]) => [
      name,
      await verb(stores).then(
        () => 'done',
        (error: unknown) => (error instanceof StoreUnavailable ? 'unavailable' : String(error)),
      ),
    ]);
    return Object.fromEntries(await Promise.all(outcomes));
  } finally {
    replica.wake();
    // Acknowledged once the replica has all that was written meanwhile.
    await until(() => stores.replay.unique('awake', String(performance.now()), 60));
  }
}

const all = (verbs: object, outcome: string) =>
  Object.fromEntries(Object.keys(verbs).map((name) => [name, outcome]));

describe('with one replica to wait for', () => {
  test('nothing that somebody is told of is acknowledged before it is there, and then it is', async () => {
    for (const [prepare] of Object.values(ACKNOWLEDGED)) await prepare();
    const verbs = Object.fromEntries(
      Object.entries(ACKNOWLEDGED).map(([name, [, verb]]) => [name, verb]),
    );
    expect(await alone(verbs)).toEqual(all(verbs, 'unavailable'));
    // Written nevertheless: the next attempt finds what the one before left.
    expect(await careless.people.get(person.id)).toMatchObject({ disabled: true });
    expect(await careless.apiKeys.get('removed')).toBeUndefined();
    expect(await careless.publicKeys.get('removed')).toBeUndefined();
    expect(await careless.passkeys.get('removed')).toBeUndefined();
    expect(await careless.passkeys.get('used')).toMatchObject({ counter: 9 });
    expect(await careless.secondFactors.get('removed')).toBeUndefined();
    expect(await careless.secondFactors.get('used')).toMatchObject({ step: 9 });
    expect(await careless.replay.unique('dpop', 'x', 60)).toBe(false);
    expect(await careless.spentTokens.spend(Buffer.from('x'), FAR)).toBe(false);
    await using feed = await careless.revocations.feed();
    expect(feed.current().revokedBy({ ...(await someClaims(careless)), jti: 'x' })).toBe('token');
    for (const verb of Object.values(verbs)) await verb(stores);
  });

  test('a write that was done already is not acknowledged before the replica has it', async () => {
    const again = {
      remove: (on: Stores) => on.artefacts.remove('Grant', 'g'),
      removeByGrant: (on: Stores) => on.artefacts.removeByGrant('grant'),
      expire: (on: Stores) => on.apiKeys.expire('ended', 7),
      addPasskey: (on: Stores) => on.passkeys.add(somePasskey('added'), 1),
      removePasskey: (on: Stores) => on.passkeys.remove('owner of removed', 'removed', 0),
      removePasskeys: (on: Stores) => on.passkeys.removeAll('owner of left'),
      addSecondFactor: (on: Stores) => on.secondFactors.add(someSecondFactor('added')),
      setUpSecondFactor: (on: Stores) =>
        on.secondFactors.setUp({ factor: someSecondFactor('added'), generation: 0, until: FAR }),
      removeSecondFactor: (on: Stores) => on.secondFactors.remove('removed'),
      addPublicKey: (on: Stores) => on.publicKeys.add(somePublicKey('added'), 1),
      signOut: (on: Stores) => on.publicKeys.signOut('signed out', 7),
      removePerson: (on: Stores) => on.people.remove(leaving),
      acknowledge: (on: Stores) => on.push.acknowledge('b-acknowledged'),
      closeReceipts: (on: Stores) => on.push.closeReceipts('b-closed'),
      unsubscribe: (on: Stores) => on.push.unsubscribe('ended'),
      removePublicKey: (on: Stores) => on.publicKeys.remove('removed'),
      removeTokenKey: (on: Stores) => on.tokenKeys.remove(VOPRF, tokenKey.id),
    };
    for (const verb of Object.values(again)) await verb(stores);
    expect(await alone(again)).toEqual(all(again, 'unavailable'));
    for (const verb of Object.values(again)) await verb(stores);
  });

  test('a write that nobody is told of waits for no replica', async () => {
    await stores.apiKeys.add(someApiKey('noted'));
    await stores.publicKeys.add(somePublicKey('noted'), 1);
    const notes = {
      report: (on: Stores) => on.cacheReports.put('x', 'x'),
      touch: (on: Stores) => on.apiKeys.touch('noted', 9),
      touchPublicKey: (on: Stores) => on.publicKeys.touch('noted', 9),
      spend: async (on: Stores) => on.limits.spend('address', 'x', { burst: 1, per: 60 }),
      sweep: (on: Stores) => on.sweep(),
    };
    expect(await alone(notes)).toEqual(all(notes, 'done'));
  });

  test('many at once wait together', async () => {
    const waits = async () =>
      Number(/cmdstat_wait:calls=(\d+)/.exec(await master.cli('INFO', 'commandstats'))?.[1] ?? 0);
    const before = await waits();
    const many = Array.from({ length: 500 }, (_, n) => stores.replay.unique('many', `${n}`, 60));
    expect(new Set(await Promise.all(many))).toEqual(new Set([true]));
    const waited = (await waits()) - before;
    expect(waited).toBeGreaterThan(0);
    expect(waited).toBeLessThan(50);
  });
});
