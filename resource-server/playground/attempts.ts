import { type Attempts, createAttempts } from '#shared/auth/credentials/attempts.ts';
import type { Config } from '#shared/config/schema.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { turnAt } from '#shared/http/turn.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { PERSON } from './person.ts';

/**
 * The limit of credentials from one address, right or wrong. The right ones are public, and an authentication by Digest
 * or SCRAM writes a row to the store.
 */
const RATE = { burst: 200, per: 0.5 };

/**
 * Counts attempts with the public credentials of the playground, separately for each address, so that a failing visitor
 * cannot lock others out.
 * They are counted apart from attempts with the names of real people. They are kept in memory, where many addresses
 * would otherwise displace the addresses from which real people signed in.
 */
export function playgroundAttempts(
  limits: Pick<Limits, 'spend'>,
  { credentials, signIn }: Config['limits'],
): Attempts {
  const attempts = createAttempts({ limits, account: credentials, address: signIn });
  const own = (account: string, address: string) =>
    `${PERSON.id} ${customerOf(address)} ${account}`;
  return {
    async begin(account, address) {
      const spent = await limits.spend('playground-credentials', customerOf(address), RATE);
      if (spent.ok) return attempts.begin(own(account, address), address);
      const { retryAfter } = spent;
      return { kind: 'unavailable', status: 429, ...refuse('too-many-attempts'), retryAfter };
    },
    // The credentials are public, so a success proves nothing about a visitor.
    turn: (_account, { peer, client }) => turnAt(peer.address, client),
    succeeded: (account, address) => attempts.succeeded(own(account, address), address),
    failed: (account, address) => attempts.failed(own(account, address), address),
  };
}
