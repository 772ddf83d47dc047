import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { silentLog } from '#shared/base/log.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { CLOCK_MARGIN } from '../revocation/lifetime.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { freePort } from '../../../e2e/parts/free-port.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import type { Redis } from '../../../e2e/parts/redis.ts';
import { eventually } from '../contract/eventually.ts';
import {
  FAR,
  NO_QUOTA,
  puts,
  someApiKey,
  someClient,
  someDocument,
  someInvalidation,
  somePerson,
  somePasskey,
  somePublicKey,
  someOutboxMessage,
  someSecondFactor,
  someTokenKey,
  onceFor,
} from '../contract/samples.ts';
import { checkServers } from './check-servers.ts';
import { Connection } from './connection/connection.ts';
import { RedisFeed } from './revocation/revocation-feed.ts';
import { OLDEST, VERSION } from './schema.ts';
import { topologyOf } from './connection/topology.ts';
import { openPatiently, openTestRedis, redisConfig, someClaims } from './under-test.ts';

describe('the demands on a server', () => {
  test.each(['allkeys-lru', 'volatile-ttl', 'volatile-lru'])(
    'one that evicts keys (%s) is refused with the reason',
    async (policy) => {
      await using redis = await startRedis({ settings: [`maxmemory-policy ${policy}`] });
      const opening = openTestRedis(redisConfig({ urls: [redis.url] }));
      await expect(opening).rejects.toThrow(new RegExp(`${policy}.*noeviction`));
      await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailable);
    },
  );

  test('one where CONFIG is not permitted is judged all the same', async () => {
    const user = 'user limited on >swordfish ~* &* +@all -config';
    await using good = await startRedis({ settings: [user] });
    const limited = ({ port }: Redis) =>
      redisConfig({ urls: [`redis://limited:swordfish@127.0.0.1:${port}`] });
    await using stores = await openTestRedis(limited(good));
    await stores.ping();
    await using evicting = await startRedis({ settings: [user, 'maxmemory-policy allkeys-lfu'] });
    await expect(openTestRedis(limited(evicting))).rejects.toThrow('allkeys-lfu');
  });

  test('one whose ACL lets a user do too little is refused with what the user lacks', async () => {
    const lacks: Readonly<Record<string, readonly [rules: string, told: string]>> = {
      info: ['~* &* +@all -info', 'INFO'],
      eval: ['~* &* +@all -eval', 'EVAL'],
      some: ['~* &* +@all -xadd -wait -evalsha', 'XADD, EVALSHA, WAIT'],
      keys: ['~other:* &* +@all', 'keys such as {test}:version'],
    };
    const settings = Object.entries(lacks).map(
      ([name, [rules]]) => `user ${name} on >swordfish ${rules}`,
    );
    await using redis = await startRedis({ settings });
    for (const [name, [, told]] of Object.entries(lacks)) {
      const urls = [`redis://${name}:swordfish@127.0.0.1:${redis.port}`];
      const opening = openTestRedis(redisConfig({ urls }));
      await expect(opening).rejects.toThrow(`who lacks: ${told}. Give the user +@all`);
      await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailable);
    }
  });

  test.each([
    ['min-replicas-to-write 0', 'min-replicas-to-write 0'],
    ['min-replicas-to-write 1', 'min-replicas-to-write 1'],
    ['min-replicas-to-write 2', 'min-replicas-max-lag 0'],
    ['min-replicas-to-write 2', 'min-replicas-max-lag 11'],
  ])(
    'one that would go on without its replicas (%s, %s) is refused with what to set',
    async (...settings) => {
      await using redis = await startRedis({ settings });
      const opening = openTestRedis(redisConfig({ urls: [redis.url], replicas: 2 }));
      await expect(opening).rejects.toThrow(
        /min-replicas-to-write \d and min-replicas-max-lag \d+: .* 2 /,
      );
      await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailable);
    },
  );

  test('a failover that may lose what was acknowledged is said at the start', async () => {
    await using cluster = await startCluster();
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(line) };
    const config = redisConfig({ mode: 'cluster', urls: cluster.urls, replicas: 0 });
    await using stores = await openTestRedis(config, new ManualClock(), log);
    await stores.ping();
    const forbidden = [
      'ACL',
      'SETUSER',
      'limited',
      'on',
      '>swordfish',
      '~*',
      '&*',
      '+@all',
      '-cluster',
    ];
    for (const server of cluster.servers) await server.cli(...forbidden);
    const urls = cluster.urls.map((url) => url.replace('//', '//limited:swordfish@'));
    await expect(openTestRedis(redisConfig({ mode: 'cluster', urls }))).rejects.toThrow(
      /who lacks: CLUSTER/,
    );
    expect(warned).toEqual([
      ['redis.replicas', { reason: expect.stringMatching(/store\.replicas is 0.*set it to 1/) }],
    ]);
  });

  test('one that a newer version has written to is refused with both numbers', async () => {
    await using redis = await startRedis();
    const newer = String(VERSION + 1);
    await redis.cli('SET', '{test}:version', newer);
    const opening = openTestRedis(redisConfig({ urls: [redis.url] }));
    const told = new RegExp(`schema ${newer}.*knows ${VERSION}.*Start the newer version`);
    await expect(opening).rejects.toThrow(told);
    expect(await redis.cli('GET', '{test}:version')).toBe(newer);
  });

  test('a store of before version 1 is refused with what to do, and stays as it is', async () => {
    await using redis = await startRedis();
    await redis.cli('SET', '{test}:schema', '14');
    const opening = openTestRedis(redisConfig({ urls: [redis.url] }));
    const told =
      /^the store in Redis was made by a build of before version 1\. .*directory export.*another prefix/;
    await expect(opening).rejects.toThrow(told);
    expect(await redis.cli('KEYS', '*')).toBe('{test}:schema');
    await using another = await openTestRedis(redisConfig({ urls: [redis.url], prefix: 'new' }));
    expect(await another.people.add(somePerson('alice'))).toBe(true);
  });

  test('a newer schema is opened if the oldest compatible one is not above ours', async () => {
    await using redis = await startRedis();
    const open = () => openTestRedis(redisConfig({ urls: [redis.url] }));
    await using first = await open();
    expect(await first.people.add(somePerson('alice'))).toBe(true);
    const kept = () => redis.cli('MGET', '{test}:version', '{test}:version:oldest');
    expect(await kept()).toBe(`${VERSION}\n${OLDEST}`);
    const later = String(VERSION + 2);
    await redis.cli('MSET', '{test}:version', later, '{test}:version:oldest', String(VERSION));
    await using second = await open();
    expect(await second.people.getByName('alice')).toMatchObject({ name: 'alice' });
    expect(await kept()).toBe(`${later}\n${VERSION}`);
    const needed = VERSION + 1;
    await redis.cli('SET', '{test}:version:oldest', String(needed));
    const told = new RegExp(`schema ${later}.*knows ${VERSION}, and the keys need ${needed}`);
    await expect(open()).rejects.toThrow(told);
    expect(await kept()).toBe(`${later}\n${needed}`);
  });

  test('a warning is logged where an acknowledged revocation could be lost, and only there', async () => {
    const warned = async (options: Parameters<typeof startRedis>[0]) => {
      await using redis = await startRedis(options);
      const warnings: [string, LogFields | undefined][] = [];
      const log = {
        ...silentLog,
        warn: (event: string, fields?: LogFields) => void warnings.push([event, fields]),
      };
      await using stores = await openTestRedis(
        redisConfig({ urls: [redis.url] }),
        new ManualClock(),
        log,
      );
      await stores.ping();
      return warnings;
    };
    expect(await warned({ appendonly: true })).toEqual([]);
    expect(await warned({})).toEqual([
      ['redis.not-durable', expect.objectContaining({ appendonly: 'no' })],
    ]);
    const everySecond = { settings: ['appendonly yes', 'appendfsync everysec'] };
    expect(await warned(everySecond)).toEqual([
      ['redis.not-durable', expect.objectContaining({ appendfsync: 'everysec' })],
    ]);
  });

  test('none at all, one that hangs and a wrong password are StoreUnavailable', async () => {
    const nobody = redisConfig({ urls: [`redis://127.0.0.1:${await freePort()}`] });
    await expect(openTestRedis(nobody)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(openTestRedis(nobody)).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/);
    await using redis = await startRedis({ password: 'swordfish' });
    const stranger = redisConfig({ urls: [`redis://:guess@127.0.0.1:${redis.port}`] });
    await expect(openTestRedis(stranger)).rejects.toBeInstanceOf(StoreUnavailable);
    redis.hang();
    const hung = openTestRedis(redisConfig({ urls: [redis.url] }));
    await expect(hung).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

test('at the start a server has as long for an answer as later, if that is more than ten seconds', async () => {
  jest.useFakeTimers();
  try {
    const never = () => new Promise<never>(() => {});
    const config = redisConfig({ urls: ['redis://127.0.0.1'], deadline: 20 });
    const checked = checkServers({ masters: never, shared: never }, config, silentLog);
    const refused = expect(checked).rejects.toThrow('no answer within 20000 ms');
    await jest.advanceTimersByTimeAsync(20_000);
    await refused;
  } finally {
    jest.useRealTimers();
  }
});

describe('a server in trouble', () => {
  let redis: Redis;
  let stores: Stores;
  beforeAll(async () => {
    redis = await startRedis({ password: 'swordfish', appendonly: true });
    stores = await openTestRedis(redisConfig({ urls: [redis.url] }));
    await stores.revocations.epoch(true);
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  /** Tries until the store does its work again. */
  const works = () => until(async () => stores.ping().then(() => true));

  const verbs = {
    ping: () => stores.ping(),
    unique: () => stores.replay.unique('jti', 'x', 60),
    take: () => stores.sessions.take('x'),
    consume: () => stores.artefacts.consume('RefreshToken', 'x'),
    settle: () => stores.artefacts.settle('RefreshToken', 'x', 'a'),
    use: () => stores.useCounts.use('a', 'x', 1, onceFor(60)),
    spend: async () => stores.limits.spend('sign-in-name', 'x', { burst: 1, per: 1 }),
    spendToken: () => stores.spentTokens.spend(Buffer.from('x'), FAR),
    tokenKeys: () => stores.tokenKeys.list(),
    addTokenKey: () => stores.tokenKeys.add(someTokenKey(VOPRF, 7), undefined),
    recall: () => stores.tokenKeys.recall(),
    recalls: () => stores.tokenKeys.recalls(),
    replace: () => stores.artefacts.replace({ kind: 'DeviceCode', id: 'x', payload: {} }, {}),
    list: () => stores.artefacts.listByAccount('SignIn', 'x'),
    page: () => stores.artefacts.pageByClient('Access', 'x', { limit: 1 }),
    add: () => stores.people.add(somePerson('x')),
    alias: () => stores.people.getByAlias('x'),
    apiKey: () => stores.apiKeys.add(someApiKey('x')),
    replaceApiKey: () => stores.apiKeys.replace(someApiKey('x'), someApiKey('x')),
    expire: () => stores.apiKeys.expire('x', 1),
    touch: () => stores.apiKeys.touch('x', 1),
    publicKey: () => stores.publicKeys.add(somePublicKey('x'), 1),
    signOut: () => stores.publicKeys.signOut('x', 1),
    removePublicKey: () => stores.publicKeys.remove('x'),
    publicKeysOf: () => stores.publicKeys.of({ kind: 'person', id: 'x' }),
    passkey: () => stores.passkeys.add(somePasskey('x'), 1),
    usePasskey: () => stores.passkeys.use('x', { counter: 9, backedUp: true, at: 1 }),
    renamePasskey: () => stores.passkeys.rename('owner of x', 'x', 'y'),
    removePasskey: () => stores.passkeys.remove('owner of x', 'x', 0),
    removePasskeys: () => stores.passkeys.removeAll('x'),
    passkeysOf: () => stores.passkeys.of('x'),
    declare: () => stores.declared.add({ kind: 'person', id: 'x' }),
    declared: () => stores.declared.list(),
    addMail: () => stores.outbox.add(someOutboxMessage('x')),
    takeMail: () => stores.outbox.take(FAR, FAR, 1),
    removeMail: () => stores.outbox.remove('x'),
    secondFactor: () => stores.secondFactors.add(someSecondFactor('x')),
    setUpSecondFactor: () =>
      stores.secondFactors.setUp({ factor: someSecondFactor('x'), generation: 0, until: FAR }),
    useStep: () => stores.secondFactors.useStep('x', 'set-up of x', 9, 1),
    useRecovery: () => stores.secondFactors.useRecovery('x', 'mac 1', 1),
    removeSecondFactor: () => stores.secondFactors.remove('x'),
    get: () => stores.clients.get('x'),
    look: () => stores.trees.look('a', ['x']),
    version: () => stores.trees.version('a'),
    commit: () =>
      stores.trees.commit('a', {
        seen: new Map(),
        locksVersion: '0',
        edits: puts(someDocument('x')),
        quota: NO_QUOTA,
      }),
    invalidate: () => stores.invalidations.add([someInvalidation('x')]),
    bans: () => stores.invalidations.list('ban', 1),
    report: () => stores.cacheReports.put('x', 'x'),
    reports: () => stores.cacheReports.all(),
    noteBackup: () => stores.lastBackup.note(1),
    lastBackup: () => stores.lastBackup.get(),
    keep: () => stores.kept.put('alice', 'x', { seconds: 60, most: 1 }),
    revoke: () => stores.revocations.revoke('token', 'x', FAR),
    raise: () => stores.revocations.raise('person', 'x', FAR),
    generation: () => stores.revocations.generation('person', 'x'),
    epoch: () => stores.revocations.epoch(true),
  };
  const outcomes = () =>
    Promise.all(
      Object.entries(verbs).map(async ([name, verb]) => {
        const outcome = await verb().then(
          () => 'done',
          (error: unknown) => (error instanceof StoreUnavailable ? 'unavailable' : String(error)),
        );
        return [name, outcome];
      }),
    );
  const all = (outcome: string) => Object.keys(verbs).map((name) => [name, outcome]);

  test('hung: every verb and the feed say so, however many ask; awake: both work without a new start', async () => {
    await using feed = await stores.revocations.feed();
    const token = await someClaims(stores);
    expect(feed.current().revokedBy(token)).toBeUndefined();
    redis.hang();
    try {
      expect(await outcomes()).toEqual(all('unavailable'));
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      expect(feed.status().trusted).toBe(false);
      const flood = Array.from({ length: 1000 }, (_, n) =>
        stores.replay.unique('flood', `${n}`, 60),
      );
      for (const one of await Promise.allSettled(flood)) expect(one.status).toBe('rejected');
      expect(await outcomes()).toEqual(all('unavailable'));
    } finally {
      redis.wake();
    }
    await works();
    await eventually(() => expect(feed.current().revokedBy(token)).toBeUndefined());
    await stores.revocations.revoke('token', token.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(token)).toBe('token'));
  });

  test('a process that stood still longer than Redis may be silent gets answers, also to its earlier question', async () => {
    await using feed = await stores.revocations.feed();
    const token = await someClaims(stores);
    await stores.revocations.revoke('token', token.jti, FAR);
    const look = async () => (await feed.latest()).revokedBy(token);
    const asked = Promise.all([look(), stores.clients.get('x')]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect(await Promise.all([asked, look()])).toEqual([['token', undefined], 'token']);
  });

  test('killed and started again: refused meanwhile, and all that was acknowledged is there', async () => {
    await using feed = await stores.revocations.feed();
    const token = await someClaims(stores);
    const generation = await stores.revocations.raise('person', token.sub, FAR);
    await stores.revocations.revoke('token', token.jti, FAR);
    await redis.kill();
    expect(await outcomes()).toEqual(all('unavailable'));
    await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
    // A feed that is opened now begins without trust.
    await using early = await stores.revocations.feed();
    expect(() => early.current()).toThrow(StoreUnavailable);
    await redis.start();
    await works();
    expect(await stores.revocations.generation('person', token.sub)).toBe(generation);
    await using late = await stores.revocations.feed();
    for (const one of [feed, early, late]) {
      await eventually(() => expect(one.current().revokedBy(token)).toBe('token'));
    }
    const other = { ...token, jti: 'another', sub_gen: generation - 1 };
    expect(late.current().revokedBy(other)).toBe('person');
  });

  test('scripts that the server has forgotten are sent again', async () => {
    await verbs.spend();
    await redis.cli('SCRIPT', 'FLUSH');
    expect(await outcomes()).toEqual(all('done'));
  });

  test('a server that refuses writes is not ready, though it answers: full memory, and a replica', async () => {
    await stores.ping();
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
    try {
      await expect(stores.ping()).rejects.toThrow(/OOM/);
      await expect(verbs.commit()).rejects.toMatchObject({ refused: true, full: true });
      expect(await stores.keys.list()).toEqual([]);
    } finally {
      await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
    }
    await works();
    await redis.cli('REPLICAOF', '127.0.0.1', `${await freePort()}`);
    try {
      await expect(stores.ping()).rejects.toThrow(/READONLY/);
      await expect(verbs.commit()).rejects.toMatchObject({ refused: true, full: false });
    } finally {
      await redis.cli('REPLICAOF', 'NO', 'ONE');
    }
    await works();
  });

  test('a bucket that was filled by a clock hours ahead is full again when it would have been', async () => {
    const rate = { burst: 3, per: 60 };
    await stores.limits.spend('device-poll', 'x', rate);
    const key = (await redis.cli('KEYS', '*:limit:device-poll:*')).trim();
    const hours = (Date.now() + 3 * 3_600_000) * 1000;
    await redis.cli('SET', key, `${hours}`, 'PX', '10800000');
    const refused = await stores.limits.spend('device-poll', 'x', rate);
    expect(refused).toEqual({ ok: false, retryAfter: 60 });
  });

  test('a server that loses its memory after an answer is not asked for the rest of it', async () => {
    await using feed = await stores.revocations.feed();
    const before = await someClaims(stores);
    await redis.cli('FLUSHALL');
    await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
    expect(feed.status()).toMatchObject({ trusted: false, epoch: undefined });
    const after = await someClaims(stores);
    await eventually(() => expect(feed.current().revokedBy(after)).toBeUndefined());
    expect(feed.current().revokedBy(before)).toBe('epoch');
  });
});

describe('a server that began before a newer version changed the keys', () => {
  const newer = String(VERSION + 1);
  const NEWER = ['{test}:version', newer, '{test}:version:oldest', newer] as const;

  test.each([
    [
      'works no more once its connections are opened anew',
      async (redis: Redis) => {
        await redis.cli('MSET', ...NEWER);
        await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal');
      },
    ],
    [
      'works no more where Redis has lost its memory and a newer store has begun there',
      async (redis: Redis) => {
        await redis.cli(
          'EVAL',
          `redis.call('FLUSHALL') redis.call('MSET', unpack(ARGV))`,
          '0',
          ...NEWER,
        );
      },
    ],
  ])('%s', async (_, change) => {
    await using redis = await startRedis();
    await using stores = await openPatiently(redisConfig({ urls: [redis.url] }));
    await stores.revocations.epoch(true);
    await using feed = await stores.revocations.feed();
    expect(feed.status().trusted).toBe(true);
    expect(await stores.clients.add(someClient('former'))).toBe(true);
    await change(redis);
    await eventually(() =>
      expect(stores.clients.get('former')).rejects.toThrow('start the newer version'),
    );
    const writing = stores.clients.add(someClient('later'));
    await expect(writing).rejects.toBeInstanceOf(StoreUnavailable);
    await redis.cli('MSET', '{test}:version', '1', '{test}:version:oldest', '1');
    await using later = await openPatiently(redisConfig({ urls: [redis.url] }));
    expect(await later.clients.get('later')).toBeUndefined();
  });

  test('goes on where Redis has lost its memory and nobody else has begun there', async () => {
    await using redis = await startRedis();
    await using stores = await openPatiently(redisConfig({ urls: [redis.url] }));
    await stores.revocations.epoch(true);
    await using feed = await stores.revocations.feed();
    expect(feed.status().trusted).toBe(true);
    await redis.cli('FLUSHALL');
    await eventually(async () =>
      expect(await redis.cli('MGET', '{test}:version', '{test}:version:oldest')).toBe(
        `${VERSION}\n${OLDEST}`,
      ),
    );
    expect(await stores.clients.add(someClient('later'))).toBe(true);
    await using later = await openPatiently(redisConfig({ urls: [redis.url] }));
    expect(await later.clients.get('later')).toEqual(someClient('later'));
  });
});

describe('a stream that is not where it was', () => {
  let redis: Redis;
  let stores: Stores;
  beforeAll(async () => {
    redis = await startRedis({ appendonly: true });
    stores = await openTestRedis(redisConfig({ urls: [redis.url] }));
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  const entry = (id: string, jti: string, at = redis) =>
    at.cli(
      'XADD',
      '{test}:revocations',
      id,
      'kind',
      'token',
      'id',
      jti,
      'generation',
      '0',
      'until',
      `${FAR}`,
    );

  test('a stream trimmed behind an old cursor: later entries are read, known ones stay', async () => {
    const [old, recent] = [await someClaims(stores), await someClaims(stores)];
    await using feed = await stores.revocations.feed();
    await stores.revocations.revoke('token', old.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(old)).toBe('token'));
    await redis.cli('XTRIM', '{test}:revocations', 'MAXLEN', '0');
    await stores.revocations.revoke('token', recent.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(recent)).toBe('token'));
    expect(feed.current().revokedBy(old)).toBe('token');
    await using late = await stores.revocations.feed();
    expect(late.current().revokedBy(recent)).toBe('token');
  });

  test('gone, and begun again at a lower id: read from its first entry, merged with what is known', async () => {
    const [old, recent] = [await someClaims(stores), await someClaims(stores)];
    await using feed = await stores.revocations.feed();
    await stores.revocations.revoke('token', old.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(old)).toBe('token'));
    await redis.cli('DEL', '{test}:revocations');
    await entry('5-1', recent.jti);
    await eventually(() => expect(feed.current().revokedBy(recent)).toBe('token'));
    expect(feed.current().revokedBy(old)).toBe('token');
    expect(feed.status().cursor).toBe('5-1');
  });

  /** Follows one server and asks another. */
  async function between(followed: Redis, asked: Redis, open = shared(followed)) {
    const epoch = '{test}:epoch';
    await followed.cli('SET', epoch, await redis.cli('GET', epoch));
    await asked.cli('SET', epoch, await redis.cli('GET', epoch));
    const connection = new Connection(topology(asked), 0, silentLog, 10_000);
    const feed = new RedisFeed({
      open,
      redis: connection,
      stream: '{test}:revocations',
      epoch,
      clock: new ManualClock(),
      monotonic: () => performance.now(),
      deadline: 1000,
      replaceable: true,
      forgotten() {},
      log: silentLog,
    });
    await feed.started;
    return {
      feed,
      async [Symbol.asyncDispose]() {
        await feed[Symbol.asyncDispose]();
        connection[Symbol.dispose]();
      },
    };
  }
  const topology = ({ url }: Redis) =>
    topologyOf(redisConfig({ urls: [url] }), { deadline: 1000, monotonic: () => 0 });
  const shared = (at: Redis) => (life: AbortSignal) => topology(at).shared(life);

  test('on a new master with entries before the last of the old one, which the feed still follows: read all the same', async () => {
    await using old = await startRedis();
    const [lost, revoked] = [await someClaims(stores), await someClaims(stores)];
    await redis.cli('DEL', '{test}:revocations');
    await entry('1000-0', lost.jti, old);
    await using both = await between(old, redis);
    await entry('950-0', revoked.jti);
    await entry('1001-0', 'another');
    expect((await both.feed.latest()).revokedBy(revoked)).toBe('token');
  });

  test('on a new master: a late answer of the old master, which stood still, is no verdict', async () => {
    await using old = await startRedis();
    const never = () => new Promise<never>(() => {});
    let follows = shared(old);
    await using both = await between(old, old, (life) => follows(life));
    await both.feed.latest();
    old.hang();
    follows = never;
    const asked = both.feed.latest();
    asked.catch(() => {});
    await eventually(() => expect(() => both.feed.current()).toThrow(StoreUnavailable));
    old.wake();
    await expect(asked).rejects.toBeInstanceOf(StoreUnavailable);
  });

  test('sweep removes the entries that no token can outlive, and no other', async () => {
    await redis.cli('DEL', '{test}:revocations');
    const token = await someClaims(stores);
    const longer = CLOCK_MARGIN + 26 * 3_600_000;
    for (let n = 0; n < 10; n++) await entry(`${Date.now() - longer}-${n}`, `old-${n}`);
    await stores.revocations.revoke('token', token.jti, FAR);
    expect(await stores.sweep()).toBe(10);
    expect(await stores.sweep()).toBe(0);
    expect(await redis.cli('XLEN', '{test}:revocations')).toBe('1');
    await using feed = await stores.revocations.feed();
    expect(feed.current().revokedBy(token)).toBe('token');
    expect(feed.current().revokedBy({ ...token, jti: 'old-3' })).toBeUndefined();
  });

  test('with an entry that cannot be understood: not trusted, rather than passed over', async () => {
    const token = await someClaims(stores);
    await using feed = await stores.revocations.feed();
    expect(feed.current().revokedBy(token)).toBeUndefined();
    const id = await redis.cli('XADD', '{test}:revocations', '*', 'kind', 'tenant', 'id', 'x');
    await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
    await using late = await stores.revocations.feed();
    expect(() => late.current()).toThrow(StoreUnavailable);
    await redis.cli('XDEL', '{test}:revocations', id);
    await eventually(() => expect(feed.current().revokedBy(token)).toBeUndefined());
  });
});
