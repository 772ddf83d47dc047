import { HttpError } from '#shared/http/answer.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type { GnapServer } from './server.ts';

/** Takes one from a bucket. Throws `HttpError` 429 if it is empty. */
export async function spendOne(
  { stores }: Pick<GnapServer, 'stores'>,
  ...bucket: Parameters<Limits['spend']>
): Promise<void> {
  const spent = await stores.limits.spend(...bucket);
  if (spent.ok) return;
  throw new HttpError(429, 'Too many requests. Try again later.', {
    'Retry-After': String(spent.retryAfter),
  });
}
