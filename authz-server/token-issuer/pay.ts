import { HttpError } from '#shared/server/answer.ts';
import type { Limits, Rate } from '#shared/stores/limits.ts';

/** Takes one from a bucket. Throws `HttpError` 429 with Retry-After when it is empty. */
export async function pay(
  limits: Limits,
  namespace: string,
  key: string,
  rate: Rate,
): Promise<void> {
  const spent = await limits.spend(namespace, key, rate);
  if (spent.ok) return;
  throw new HttpError(429, 'Too many tokens. Try again after the seconds that Retry-After gives.', {
    'Retry-After': String(spent.retryAfter),
  });
}
