import { createHmac } from 'node:crypto';
import { HttpError } from '#shared/http/answer.ts';
import type { LimitNamespace, Limits, Rate } from '#shared/stores/limits/limits.ts';
import { derivedKey } from '#shared/base/derived-key.ts';

/**
 * Takes one token from the bucket of a payer, whom the strings together identify. Throws `HttpError` 429 with
 * Retry-After if the bucket is empty.
 */
export type Pay = (
  namespace: LimitNamespace,
  payer: readonly string[],
  rate: Rate,
) => Promise<void>;

/** Names buckets by keyed hashes, so that a reader of the store cannot find a person's bucket by trying names. */
export function payment(limits: Limits, master: Buffer): Pay {
  const key = derivedKey(master, 'countersign authz private-token quota');
  return async (namespace, payer, rate) => {
    const bucket = createHmac('sha256', key).update(JSON.stringify(payer)).digest('base64url');
    const spent = await limits.spend(namespace, bucket, rate);
    if (spent.ok) return;
    const detail = 'Too many tokens. Try again after the seconds that Retry-After gives.';
    throw new HttpError(429, detail, { 'Retry-After': String(spent.retryAfter) });
  };
}
