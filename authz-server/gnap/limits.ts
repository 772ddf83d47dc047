import { HttpError } from '#shared/http/answer.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type { GnapServer } from './server.ts';

/** The name of a bucket, its key and its rate. */
export type Bucket = Readonly<Parameters<Limits['spend']>>;

/** A request pays from each bucket before it is remembered. `refusal` is said if one is empty: by default `HttpError` 429. */
export interface Price {
  readonly buckets: readonly Bucket[];
  readonly refusal?: (retryAfter: number) => Error;
}

const tooMany = (retryAfter: number) =>
  new HttpError(429, 'Too many requests. Try again later.', { 'Retry-After': String(retryAfter) });

/** Takes one from each bucket. Throws the refusal if one is empty. */
export async function pay(
  { stores }: Pick<GnapServer, 'stores'>,
  { buckets, refusal = tooMany }: Price,
): Promise<void> {
  for (const bucket of buckets) {
    const spent = await stores.limits.spend(...bucket);
    if (!spent.ok) throw refusal(spent.retryAfter);
  }
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
 * Returns `replay` for one request, which is paid for: what cannot be paid for leaves no row. A replay gets it back, or
 * anybody who has seen a request could keep its client out by that.
 */
export function paidReplay(
  server: Pick<GnapServer, 'stores'>,
  price: Price,
): Pick<Replay, 'unique'> {
  const { replay, limits } = server.stores;
  let isPaid = false;
  return {
    async unique(...used) {
      // The rotation of a key has two proofs.
      if (!isPaid) await pay(server, price);
      isPaid = true;
      if (await replay.unique(...used)) return true;
      for (const bucket of price.buckets) await limits.giveBack(...bucket);
      return false;
    },
  };
}
