import { expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRelay } from '../../../e2e/parts/relay.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { openPostgres } from './open.ts';

const openOn = (url: string) =>
  openPostgres(
    { kind: 'postgres', urls: [url], schema: 'countersign', connections: 4, deadline: 5 },
    { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
  );
const FAR = Date.now() + 3_600_000;

test('a former primary that is cut off from the new one gives no verdict', async () => {
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
  // A second after the division at the latest, and for as long as it lasts.
  await until(async () => {
    try {
      await feed.latest();
      return false;
    } catch (error) {
      return error instanceof StoreUnavailable;
    }
  });
  await expect(feed.latest()).rejects.toThrow(StoreUnavailable);
  expect(() => feed.current()).toThrow(StoreUnavailable);
  expect(feed.status().trusted).toBe(false);
});
