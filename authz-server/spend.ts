import { Provider } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { orTemporarilyUnavailable, TooManyRequests } from './engine/errors.ts';

interface Limiting {
  readonly stores: Pick<Stores, 'limits'>;
  readonly config: Pick<Config, 'limits'>;
}

/**
 * Counts a request of a client (`limits.client`), spent only by who authenticates, so that nobody can use up
 * the limit of a client that is not theirs: by a secret at the token endpoint, by an assertion at every
 * endpoint, since each is remembered. Throws `TooManyRequests`.
 */
export async function spendOfClient({ stores, config }: Limiting, clientId: string): Promise<void> {
  await spend(stores, 'client', clientId, config.limits.client);
}

/** Takes one from the bucket of `key` for the request that is answered now. Throws `TooManyRequests`. */
export async function spend(
  { limits }: Limiting['stores'],
  ...bucket: Parameters<Stores['limits']['spend']>
): Promise<void> {
  const spent = await orTemporarilyUnavailable(limits.spend(...bucket));
  if (spent.ok) return;
  Provider.ctx?.set('Retry-After', String(spent.retryAfter));
  throw new TooManyRequests(spent.retryAfter);
}
