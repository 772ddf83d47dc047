import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { freePort } from '../../../e2e/parts/free-port.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import { type Redis, startRedis } from '../../../e2e/parts/redis.ts';
import { eventually } from '../contract/eventually.ts';
import { FAR, onceFor, someInvalidation } from '../contract/samples.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { checkServers } from '../redis/check-servers.ts';
import { redisConfig, someClaims } from '../redis/under-test.ts';
import type { RedisSettings } from '../settings.ts';
import type { Stores } from '../stores.ts';
import { openPostgres } from './open.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** Opens a new PostgreSQL store with that Redis beside it. */
const open = (redis: RedisSettings, log: Log = silentLog): Promise<Stores> =>
  openPostgres(
    {
      kind: 'postgres',
      urls: [postgres.url],
      schema: `faults_${systemRandom(8).toString('hex')}`,
      connections: 10,
      deadline: 5,
      redis,
    },
    { clock: systemClock, random: systemRandom, log, skew: 5 },
  );

describe('the required configuration of Redis', () => {
  test.each(['allkeys-lru', 'volatile-ttl', 'volatile-lru'])(
    'a Redis that evicts keys (%s) is refused with the reason',
    async (policy) => {
      await using redis = await startRedis({ settings: [`maxmemory-policy ${policy}`] });
      const opening = open(redisConfig({ urls: [redis.url] }));
      await expect(opening).rejects.toThrow(new RegExp(`${policy}.*noeviction`));
      await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailable);
    },
  );

  test('a Redis that does not permit CONFIG is checked all the same', async () => {
    const user = 'user limited on >swordfish ~* &* +@all -config';
    await using good = await startRedis({ settings: [user] });
    const limited = ({ port }: Redis) =>
      redisConfig({ urls: [`redis://limited:swordfish@127.0.0.1:${port}`] });
    await using stores = await open(limited(good));
    await stores.ping();
    await using evicting = await startRedis({ settings: [user, 'maxmemory-policy allkeys-lfu'] });
    await expect(open(limited(evicting))).rejects.toThrow('allkeys-lfu');
  });

  test('a Redis whose ACL permits too little is refused, and the error names the missing permissions', async () => {
    const lacks: Readonly<Record<string, readonly [rules: string, told: string]>> = {
      info: ['~* &* +@all -info', 'INFO'],
      eval: ['~* &* +@all -eval', 'EVAL'],
      some: ['~* &* +@all -xadd -wait -evalsha', 'XADD, EVALSHA, WAIT'],
      keys: ['~other:* &* +@all', 'keys such as {test}:told'],
    };
    const settings = Object.entries(lacks).map(
      ([name, [rules]]) => `user ${name} on >swordfish ${rules}`,
    );
    await using redis = await startRedis({ settings });
    for (const [name, [, told]] of Object.entries(lacks)) {
      const urls = [`redis://${name}:swordfish@127.0.0.1:${redis.port}`];
      const opening = open(redisConfig({ urls }));
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
    'a Redis that would accept writes without its replicas (%s, %s) is refused, and the error names the setting',
    async (...settings) => {
      await using redis = await startRedis({ settings });
      const opening = open(redisConfig({ urls: [redis.url], replicas: 2 }));
      await expect(opening).rejects.toThrow(
        /min-replicas-to-write \d and min-replicas-max-lag \d+: .* 2 /,
      );
      await expect(opening).rejects.not.toBeInstanceOf(StoreUnavailable);
    },
  );

  test('a server warns at its start if a failover may lose acknowledged writes', async () => {
    await using cluster = await startCluster();
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => void warned.push(line) };
    const config = redisConfig({ mode: 'cluster', urls: cluster.urls, replicas: 0 });
    await using stores = await open(config, log);
    await stores.ping();
    const forbidden = ['ACL', 'SETUSER', 'limited', 'on', '>swordfish', '~*', '&*', '+@all'];
    for (const server of cluster.servers) await server.cli(...forbidden, '-cluster');
    const urls = cluster.urls.map((url) => url.replace('//', '//limited:swordfish@'));
    await expect(open(redisConfig({ mode: 'cluster', urls }))).rejects.toThrow(
      /who lacks: CLUSTER/,
    );
    expect(warned).toContainEqual([
      'redis.replicas',
      { reason: expect.stringMatching(/store\.redis\.replicas is 0.*set it to 1/) },
    ]);
  });

  test('a Redis that cannot be used is StoreUnavailable, and a sentence says what to do', async () => {
    const port = await freePort();
    await using redis = await startRedis({ password: 'swordfish' });
    const place = `127.0.0.1:${redis.port}`;
    const sentinel = { mode: 'sentinel', master: 'mymaster' } as const;
    const cases: readonly (readonly [Parameters<typeof redisConfig>[0], string])[] = [
      [{ urls: [`redis://127.0.0.1:${port}`] }, `Redis at 127.0.0.1:${port} cannot be reached`],
      [{ urls: [`redis://:guess@${place}`] }, `Redis at ${place} refuses the user or the password`],
      [{ urls: [`redis://${place}`] }, `Redis at ${place} asks for a password: write it`],
      [
        { urls: [`redis://127.0.0.1:${postgres.port}`] },
        `Redis at 127.0.0.1:${postgres.port} has closed the connection: start it, correct its host`,
      ],
      [{ ...sentinel, urls: [redis.url] }, `(the sentinel at ${place} is no sentinel: name the`],
      [{ mode: 'cluster', urls: [redis.url] }, 'Redis is no Cluster: name nodes of one, or remove'],
    ];
    for (const [settings, words] of cases) {
      const opening = open(redisConfig(settings));
      await expect(opening).rejects.toThrow(words);
      await expect(opening).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(opening).rejects.not.toThrow(/Error:|swordfish|guess/);
    }
    redis.hang();
    const hung = open(redisConfig({ urls: [redis.url] }));
    await expect(hung).rejects.toThrow(
      /(?:does not|gives no) answer.*: start it.*rediss:\/\/ if it uses TLS/,
    );
  });
});

test('at the start Redis has ten seconds for an answer, or as long as later if that is more', async () => {
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

describe('a Redis that fails', () => {
  let redis: Redis;
  let stores: Stores;
  beforeAll(async () => {
    redis = await startRedis({ password: 'swordfish', appendonly: true });
    stores = await open(redisConfig({ urls: [redis.url] }));
    await stores.revocations.epoch(true);
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  /** Tries until the store does its work again. */
  const works = () => until(async () => stores.ping().then(() => true));

  /** Operations of the store that need Redis. */
  const verbs = {
    ping: () => stores.ping(),
    use: () => stores.useCounts.use('a', 'x', 1, onceFor(60)),
    proof: () => stores.proofs.spend('dpop', 'x', onceFor(60)),
    take: () => stores.sessions.take('x'),
    spend: async () => stores.limits.spend('sign-in-name', 'x', { burst: 1, per: 1 }),
    keep: () => stores.kept.put('alice', 'x', { seconds: 60, most: 1 }),
    report: () => stores.cacheReports.put('x', 'x'),
    reports: () => stores.cacheReports.all(),
    invalidate: () => stores.invalidations.add([someInvalidation('x')]),
    revoke: () => stores.revocations.revoke('token', 'x', FAR),
    raise: () => stores.revocations.raise('person', 'x', FAR),
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

  test('every verb and the feed fail while Redis hangs, and work again afterwards without a restart', async () => {
    await using feed = await stores.revocations.feed();
    const token = await someClaims(stores);
    expect(feed.current().revokedBy(token)).toBeUndefined();
    redis.hang();
    try {
      expect(await outcomes()).toEqual(all('unavailable'));
      await eventually(() => expect(() => feed.current()).toThrow(StoreUnavailable));
      expect(feed.status().trusted).toBe(false);
      const flood = Array.from({ length: 1000 }, (_, n) =>
        stores.proofs.spend('dpop', `${n}`, onceFor(60)),
      );
      for (const one of await Promise.allSettled(flood)) expect(one.status).toBe('rejected');
      const verdicts = Array.from({ length: 1000 }, async () => feed.latest());
      for (const one of await Promise.allSettled(verdicts)) expect(one.status).toBe('rejected');
    } finally {
      redis.wake();
    }
    await works();
    await eventually(() => expect(feed.current().revokedBy(token)).toBeUndefined());
    await stores.revocations.revoke('token', token.jti, FAR);
    await eventually(() => expect(feed.current().revokedBy(token)).toBe('token'));
  });

  test('a process that was suspended for longer than the timeout still gets answers, also to its earlier command', async () => {
    await using feed = await stores.revocations.feed();
    const token = await someClaims(stores);
    await stores.revocations.revoke('token', token.jti, FAR);
    const look = async () => (await feed.latest()).revokedBy(token);
    const asked = look();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
    expect(await Promise.all([asked, look()])).toEqual(['token', 'token']);
  });

  test('while Redis is killed commands are refused; after its restart all acknowledged writes are there', async () => {
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
    await using late = await stores.revocations.feed();
    for (const one of [feed, early, late]) {
      await eventually(() => expect(one.current().revokedBy(token)).toBe('token'));
    }
    const other = { ...token, jti: 'another', sub_gen: generation - 1 };
    expect(late.current().revokedBy(other)).toBe('person');
  });

  test('scripts that Redis has forgotten are sent again', async () => {
    await verbs.spend();
    await redis.cli('SCRIPT', 'FLUSH');
    expect(await outcomes()).toEqual(all('done'));
  });

  test('a Redis that refuses writes (full memory, or a replica) is not ready, although it answers', async () => {
    await stores.ping();
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
    try {
      await expect(stores.ping()).rejects.toThrow(/OOM/);
      await stores.ping('reading');
      await expect(verbs.keep()).rejects.toMatchObject({ refused: true, full: true });
      await verbs.revoke();
      expect(await stores.keys.list()).toEqual([]);
    } finally {
      await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
    }
    await works();
    await redis.cli('REPLICAOF', '127.0.0.1', `${await freePort()}`);
    try {
      await expect(stores.ping()).rejects.toThrow(/READONLY/);
      await expect(verbs.keep()).rejects.toMatchObject({ refused: true, full: false });
    } finally {
      await redis.cli('REPLICAOF', 'NO', 'ONE');
    }
    await works();
  });

  test('a bucket that was used by a process whose clock is hours ahead is full again at the usual time', async () => {
    const rate = { burst: 3, per: 60 };
    await stores.limits.spend('device-poll', 'x', rate);
    const key = (await redis.cli('KEYS', '*:limit:device-poll:*')).trim();
    const hours = (Date.now() + 3 * 3_600_000) * 1000;
    await redis.cli('SET', key, `${hours}`, 'PX', '10800000');
    const refused = await stores.limits.spend('device-poll', 'x', rate);
    expect(refused).toEqual({ ok: false, retryAfter: 60 });
  });
});

test('all keys begin with the prefix, and contain no name of a person and no secret', async () => {
  await using redis = await startRedis();
  await using stores = await open(redisConfig({ urls: [redis.url] }));
  await stores.revocations.epoch(true);
  await stores.revocations.raise('person', 'alice-of-somebody', FAR);
  await stores.invalidations.add([someInvalidation('x')]);
  await stores.limits.spend('sign-in-name', '192.0.2.1', { burst: 2, per: 60 });
  await stores.sessions.put('x', 60);
  await stores.proofs.spend('dpop', 'a-jti-of-somebody', onceFor(60));
  await stores.useCounts.use('digest', 'a-nonce-of-somebody', 1, onceFor(60));
  await stores.kept.put('person=somebody', 'x', { seconds: 60, most: 1 });
  await stores.cacheReports.put('a-process', 'x');
  const keys = (await redis.cli('KEYS', '*')).split('\n');
  expect(keys).toHaveLength(11);
  for (const key of keys) expect(key).toMatch(/^\{?test[:}]/);
  expect(keys.join()).not.toContain('192.0.2.1');
  expect(keys.join()).not.toContain('somebody');
});
