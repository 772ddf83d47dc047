import { Provider } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { orTemporarilyUnavailable, TooManyRequests } from './errors.ts';

interface Limiting {
  readonly stores: Pick<Stores, 'limits'>;
  readonly config: Pick<Config, 'limits'>;
}

/**
 * Counts a token request of a client (`limits.client`), spent only by who has authenticated, so that nobody
 * can use up the limit of a client that is not theirs. Throws `TooManyRequests`.
 */
export async function spendOfClient({ stores, config }: Limiting, clientId: string): Promise<void> {
  const { ctx } = Provider;
  if (ctx?.oidc.route !== 'token') return;
  const spending = stores.limits.spend('client', clientId, config.limits.client);
  const spent = await orTemporarilyUnavailable(spending);
  if (spent.ok) return;
  ctx.set('Retry-After', String(spent.retryAfter));
  throw new TooManyRequests(spent.retryAfter);
}
