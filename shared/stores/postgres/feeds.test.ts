import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRelay } from '../../../e2e/parts/relay.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Sql } from '../sql/sql.ts';
import { openFeed } from './feeds.ts';
import { openPostgres } from './open.ts';
import { Rewinding } from './rewinding.ts';

const openOn = (url: string) =>
  openPostgres(
    { kind: 'postgres', urls: [url], schema: 'countersign', connections: 4, deadline: 5 },
    { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
  );
const FAR = Date.now() + 3_600_000;

test('a process that reaches only a former primary gives no verdict', async () => {
  await using former = await startPostgres();
  await using relay = await startRelay(former.port);
  await using next = await startPostgres({ standbyOf: former, through: relay });
  await former.waitFor(next);
  await using behind = await openOn(former.url);
  const epoch = await behind.revocations.epoch(true);
  await using feed = await behind.revocations.feed();
  await behind.revocations.revoke('token', 'before', FAR);
  const claims = { jti: 'before', grant_id: 'g', sub: 's', client_id: 'c', epoch } as const;
  expect((await feed.latest()).revokedBy(claims as RevocableClaims)).toBe('token');

  relay.divide();
  await next.promote();
  await using ahead = await openOn(next.url);
  await until(() =>
    ahead.ping('all').then(
      () => true,
      () => false,
    ),
  );
  await ahead.revocations.revoke('token', 'after', FAR);
  // This holds from one second after the division of the network until its end.
  await until(async () => {
    try {
      await feed.latest();
      return false;
    } catch (error) {
      return error instanceof StoreUnavailable;
    }
  });
  await expect(feed.latest()).rejects.toThrow(StoreUnavailable);
  expect(feed.status().trusted).toBe(false);
});

test('PostgreSQL acknowledges no proof, count, session or use of a request that its standby lacks', async () => {
  await using postgres = await startPostgres();
  await using stores = await openOn(postgres.url);
  const pushed = ['PushedAuthorizationRequest', 'pushed'] as const;
  const [kind, id] = pushed;
  await stores.artefacts.put({ kind, id, payload: {}, seconds: 60 });
  await postgres.sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await postgres.sql('SELECT pg_reload_conf()');
  await until(() =>
    stores.ping('all').then(
      () => false,
      () => true,
    ),
  );
  const once = { made: Date.now(), seconds: 60 };
  const outcomes = await Promise.allSettled([
    stores.proofs.spend('dpop', 'proof', once),
    stores.useCounts.use('digest', 'nonce', 1, once),
    stores.replay.unique('assertion', 'jti', 60),
    stores.sessions.put('state', 60),
    stores.artefacts.consume(...pushed),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
});

test('a verdict is refused at its deadline if the comparison with Redis never ends', async () => {
  const clock = new ManualClock();
  let asked = 0;
  await using feed = await openFeed({
    database: {
      read: async (work) =>
        work({ all: async () => [['epoch', null, 0]], run: async () => 0 } as Sql),
      confirm: async () => {},
      look: async () => {},
    },
    clock,
    rewinding: new Rewinding({ refuse: () => {} }),
    told: {
      isCompared: false,
      confirmed: () => -Infinity,
      recheck: async () => {},
      async behind() {
        asked += 1;
        clock.advance(0.5);
        return { last: 0, rows: [] };
      },
    },
    silence: 2_000,
  });
  asked = 0;
  await expect(feed.latest()).rejects.toThrow(StoreUnavailable);
  expect(asked).toBe(4);
});

test('only verdicts wait for a commit that takes longer than a second', async () => {
  const clock = new ManualClock();
  let commit = Promise.resolve();
  await using feed = await openFeed({
    database: {
      read: async (work) =>
        work({ all: async () => [['epoch', null, 0]], run: async () => 0 } as Sql),
      confirm: () => commit,
      look: async () => {},
    },
    clock,
    rewinding: new Rewinding({ refuse: () => {} }),
    told: undefined,
    silence: 2_000,
  });
  const slow = Promise.withResolvers<void>();
  commit = slow.promise;
  clock.advance(1.5);
  expect(feed.current().epoch).toBe('epoch');
  expect(feed.status().trusted).toBe(false);
  let judged = false;
  const verdict = Promise.resolve(feed.latest()).then(() => (judged = true));
  await setImmediate();
  expect(judged).toBe(false);
  slow.resolve();
  await verdict;
  expect(feed.status().trusted).toBe(true);
});
