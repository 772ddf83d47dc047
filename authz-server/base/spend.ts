import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { orTemporarilyUnavailable, TemporarilyUnavailable, TooManyRequests } from './errors.ts';

interface Limiting {
  readonly stores: Pick<Stores, 'limits'>;
  readonly config: Pick<Config, 'limits'>;
}

/**
 * Counts a request of an authenticated client against `limits.client`. Requests that fail to authenticate are not
 * counted, so no attacker can use up another client's limit. A request with a secret is counted at the token endpoint;
 * one with an assertion is counted at every endpoint, since the server remembers each assertion. Throws
 * `TooManyRequests`.
 */
export async function spendOfClient({ stores, config }: Limiting, clientId: string): Promise<void> {
  await spend(stores, 'client', clientId, config.limits.client);
}

/** The property of a request that holds the result of counting it. */
const PAID = Symbol('paid');

type Paying = IncomingMessage & { [PAID]?: Promise<void> };

/**
 * Counts a request to the token endpoint by a client that has authenticated with its secret. A request that both code
 * paths handle (client-credentials/) is counted once, and a failed count is not repeated. Throws `TooManyRequests`.
 */
export const spendOnce = (server: Limiting, request: Paying, clientId: string): Promise<void> =>
  (request[PAID] ??= spendOfClient(server, clientId));

/** As `spendOnce`, for a request that the engine handles. */
export function spendOfSecret(server: Limiting) {
  return async ({ req, oidc: { client } }: KoaContextWithOIDC): Promise<void> => {
    const { clientAuthMethod = '', clientId = '' } = client ?? {};
    if (BY_SECRET.has(clientAuthMethod)) await spendOnce(server, req, clientId);
  };
}

/** The client authentication methods that use a secret (RFC 7591 section 2). */
export const BY_SECRET: ReadonlySet<string> = new Set([
  'client_secret_basic',
  'client_secret_post',
]);

/**
 * Waits for the count of a request that revokes or removes something; resolves to the result. If the limits are
 * unavailable the request continues: they only save space in the record, but without the request a stolen token would
 * stay valid during the outage.
 */
export async function toEnd<T>(spending: Awaitable<T>): Promise<T | undefined> {
  try {
    return await spending;
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof TemporarilyUnavailable) {
      return undefined;
    }
    throw error;
  }
}

/** Takes one token from the bucket of `key` for the current request. Throws `TooManyRequests`. */
export async function spend(
  { limits }: Limiting['stores'],
  ...bucket: Parameters<Stores['limits']['spend']>
): Promise<void> {
  const spent = await orTemporarilyUnavailable(limits.spend(...bucket));
  if (!spent.ok) throw new TooManyRequests(spent.retryAfter);
}
