import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { orTemporarilyUnavailable, TooManyRequests } from './errors.ts';

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

/** Of a request: what came of its payment. */
const PAID = Symbol('paid');

/**
 * At the token endpoint, for a client that has shown its secret. A request that goes both ways (client-credentials/)
 * pays once, and what failed is not tried again. Throws `TooManyRequests`.
 */
export function spendOfSecret(server: Limiting) {
  return async ({ req, oidc: { client } }: Paying): Promise<void> => {
    const { clientAuthMethod = '', clientId = '' } = client ?? {};
    if (BY_SECRET.has(clientAuthMethod)) await (req[PAID] ??= spendOfClient(server, clientId));
  };
}

type Paying = KoaContextWithOIDC & { readonly req: { [PAID]?: Promise<void> } };

/** Methods of authentication (RFC 7591 section 2). */
export const BY_SECRET: ReadonlySet<string> = new Set([
  'client_secret_basic',
  'client_secret_post',
]);

/** Takes one from the bucket of `key` for the request that is answered now. Throws `TooManyRequests`. */
export async function spend(
  { limits }: Limiting['stores'],
  ...bucket: Parameters<Stores['limits']['spend']>
): Promise<void> {
  const spent = await orTemporarilyUnavailable(limits.spend(...bucket));
  if (!spent.ok) throw new TooManyRequests(spent.retryAfter);
}
