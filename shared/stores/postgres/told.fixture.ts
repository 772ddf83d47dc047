import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Postgres } from '../../../e2e/parts/postgres.ts';
import { redisConfig } from '../redis/under-test.ts';
import type { Stores } from '../stores.ts';
import { openPostgres } from './open.ts';
import { postgresStore } from './started.fixture.ts';

/** A record of its own, and what opens it as one more process beside a Redis. */
export function someRecordOn(postgres: Postgres) {
  const schema = `told_${systemRandom(8).toString('hex')}`;
  const sql = (statement: string) => postgres.sql(`SET search_path = ${schema}; ${statement}`);
  const settings = (redisUrl?: string, prefix = schema.replace('_', '-')) =>
    postgresStore([postgres.url], {
      schema,
      deadline: 5,
      redis: redisUrl === undefined ? undefined : redisConfig({ urls: [redisUrl], prefix }),
    });
  const open = (...where: Parameters<typeof settings>) =>
    openPostgres(settings(...where), {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      skew: 5,
    });
  return { open, sql, settings };
}

/** Which of the tokens are revoked in the next view for a verdict. */
export async function revokedOf(
  { revocations }: Stores,
  feed: Awaited<ReturnType<Stores['revocations']['feed']>>,
  tokens: readonly string[],
) {
  const epoch = (await revocations.epoch(true)) ?? '';
  const view = await feed.latest();
  return tokens.filter((jti) => {
    const claims: RevocableClaims = {
      jti,
      kid: 'k',
      sub: 's',
      client_id: 'c',
      client_gen: 0,
      epoch,
    };
    return view.revokedBy(claims) === 'token';
  });
}
