import { HttpError } from '#shared/http/answer.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type { GnapServer } from './server.ts';

/** The name of a bucket, its key and its rate. */
export type Bucket = Readonly<Parameters<Limits['spend']>>;

/** Takes one from a bucket. Throws `HttpError` 429 if it is empty. */
export async function spendOne(
  { stores }: Pick<GnapServer, 'stores'>,
  ...bucket: Bucket
): Promise<void> {
  const spent = await stores.limits.spend(...bucket);
  if (spent.ok) return;
  throw new HttpError(429, 'Too many requests. Try again later.', {
    'Retry-After': String(spent.retryAfter),
  });
}

/** Returns the buckets of rows that are written for somebody at an address who may be anybody. */
export const ofStranger = (
  { config }: Pick<GnapServer, 'config'>,
  address: string,
): readonly Bucket[] => [
  ['visits', customerOf(address), config.limits.visits],
  ['all-visits', 'all', config.limits.allVisits],
];

/**
 * Returns `replay` that is paid for: what cannot be paid for leaves no row. A replay gets it back, or anybody who has
 * seen a request could keep its client out by that.
 */
export const paidReplay = (
  server: Pick<GnapServer, 'stores'>,
  buckets: readonly Bucket[],
): Pick<Replay, 'unique'> => ({
  async unique(...used) {
    for (const bucket of buckets) await spendOne(server, ...bucket);
    if (await server.stores.replay.unique(...used)) return true;
    for (const bucket of buckets) await server.stores.limits.giveBack(...bucket);
    return false;
  },
});
