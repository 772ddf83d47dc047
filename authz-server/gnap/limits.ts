import { HttpError } from '#shared/http/answer.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { toEnd } from '../base/spend.ts';
import type { GnapServer } from './server.ts';

/** A bucket of a limit: its name, its key and its rate. */
export type Bucket = Readonly<Parameters<Limits['spend']>>;

/**
 * The payment for a request, which takes from each bucket before the request is remembered. If a bucket is empty,
 * `refusal` is thrown, by default `HttpError` 429.
 */
export interface Price {
  readonly buckets: readonly Bucket[];
  /** Whether the request ends something (`toEnd`). */
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

/** Returns the buckets for rows of an unauthenticated client at an address. */
export const ofStranger = (
  { config }: Pick<GnapServer, 'config'>,
  address: string,
): readonly Bucket[] => [
  ['visits', customerOf(address), config.limits.visits],
  ['all-visits', 'all', config.limits.allVisits],
];

/**
 * Returns the bucket of a client that has proved its key. Each request leaves a row, so each request pays from this
 * bucket or another.
 */
export const ofClient = ({ config }: Pick<GnapServer, 'config'>, clientId: string): Bucket => [
  'client',
  clientId,
  config.limits.client,
];

/**
 * Returns `replay` for one request after payment, so that a request that cannot pay leaves no row. A replayed request
 * gets its payment back; otherwise anybody who has seen a request could block its client with it.
 */
export function paidReplay(
  server: Pick<GnapServer, 'stores'>,
  price: Price,
): Pick<Replay, 'unique'> {
  const { replay, limits } = server.stores;
  // The rotation of a key has two proofs: if the second one is a replay, the first has already left a row.
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
