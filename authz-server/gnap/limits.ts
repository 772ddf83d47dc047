import { HttpError } from '#shared/http/answer.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { toEnd } from '../base/spend.ts';
import type { GnapServer } from './server.ts';

/** The name of a bucket, its key and its rate. */
export type Bucket = Readonly<Parameters<Limits['spend']>>;

/** A request pays from each bucket before it is remembered. `refusal` is said if one is empty: by default `HttpError` 429. */
export interface Price {
  readonly buckets: readonly Bucket[];
  /** The request ends something (`toEnd`). */
  readonly ends?: boolean;
  readonly refusal?: (retryAfter: number) => Error;
}

const tooMany = (retryAfter: number) =>
  new HttpError(429, 'Too many requests. Try again later.', { 'Retry-After': String(retryAfter) });

/** Takes one from each bucket. Throws the refusal if one is empty. */
export async function pay(
  { stores }: Pick<GnapServer, 'stores'>,
  { buckets, ends = false, refusal = tooMany }: Price,
): Promise<void> {
  for (const bucket of buckets) {
    const spending = stores.limits.spend(...bucket);
    const spent = await (ends ? toEnd(spending) : spending);
    if (spent?.ok === false) throw refusal(spent.retryAfter);
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

/** Returns the bucket of a client whose key is proved. Each request leaves a row, so each pays from this one or another. */
export const ofClient = ({ config }: Pick<GnapServer, 'config'>, clientId: string): Bucket => [
  'client',
  clientId,
  config.limits.client,
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
  // The rotation of a key has two proofs: a replay behind a new one has left a row.
  let hasRow = false;
  return {
    async unique(...used) {
      if (!hasRow) await pay(server, price);
      if (await replay.unique(...used)) return (hasRow = true);
      if (!hasRow) for (const bucket of price.buckets) await limits.giveBack(...bucket);
      return false;
    },
  };
}
