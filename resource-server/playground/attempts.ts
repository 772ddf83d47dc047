import { type Attempts, createAttempts } from '#shared/auth/credentials/attempts.ts';
import type { Config } from '#shared/config/schema.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { turnAt } from '#shared/http/turn.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { PERSON } from './person.ts';

/**
 * Credentials of one address that are looked at, right or wrong. Everybody has the right ones here, and an authentication
 * by Digest or SCRAM leaves a row in the store.
 */
const RATE = { burst: 200, per: 0.5 };

/**
 * Attempts with the credentials of the playground, which everybody knows: nobody who fails may keep others out, so each
 * address counts for itself. They are apart from those of real people, also of one who has that name, and in memory,
 * where many addresses would displace the ones from which real people were let in.
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
    // Everybody has the credentials, so that having been let in tells nothing of a visitor.
    turn: (_account, { peer, client }) => turnAt(peer.address, client),
    succeeded: (account, address) => attempts.succeeded(own(account, address), address),
    failed: (account, address) => attempts.failed(own(account, address), address),
  };
}
