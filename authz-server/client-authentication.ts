import { createHash } from 'node:crypto';
import { errors, Provider } from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { epochSeconds } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import type { Limits, Rate } from '#shared/stores/limits.ts';
import { ASSERTION_SECONDS } from './adapter/replay.ts';
import { orTemporarilyUnavailable, TooManyRequests } from './errors.ts';

export interface ClientLimit {
  readonly limits: Limits;
  readonly rate: Rate;
}

/** Spent only by who has authenticated, so that nobody can use up the limit of a client that is not theirs. */
async function spend({ limits, rate }: ClientLimit, clientId: string): Promise<void> {
  const spent = await orTemporarilyUnavailable(limits.spend('client', clientId, rate));
  if (spent.ok) return;
  Provider.ctx?.set('Retry-After', String(spent.retryAfter));
  throw new TooManyRequests(spent.retryAfter);
}

const limited = (ctx: KoaContextWithOIDC | undefined) => ctx?.oidc.route === 'token';

/** Secrets are stored hashed; the engine's own comparison, in constant time, then compares the hashes. */
export function useHashedSecrets(provider: Provider, limit: ClientLimit): void {
  const client = provider.Client.prototype;
  const compareHashes = client.compareClientSecret;
  client.compareClientSecret = async function compareClientSecret(secret: string) {
    const hash = createHash('sha256').update(secret).digest('base64url');
    const same = await compareHashes.call(this, hash);
    if (same && limited(Provider.ctx)) await spend(limit, this.clientId);
    return same;
  };
}

/**
 * What the engine does not check of a client assertion (RFC 7523 section 3): it must not outlive our
 * memory of it, or it could be used again.
 */
export function checkAssertion(
  limit: ClientLimit,
  clock: Clock,
): NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']> {
  return async (ctx, claims, _header, client) => {
    const { exp } = claims;
    if (typeof exp !== 'number' || exp > epochSeconds(clock) + ASSERTION_SECONDS - 60) {
      throw new errors.InvalidClientAuth('the client assertion lives too long');
    }
    if (limited(ctx)) await spend(limit, client.clientId);
  };
}
