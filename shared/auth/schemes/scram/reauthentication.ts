import { createHash } from 'node:crypto';
import { type Clock, isWithin } from '#shared/base/clock.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type { Use } from '#shared/stores/authentication/proofs.ts';
import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import { createNonces, type NonceState } from '../../credentials/nonces.ts';
import { SCRAM_ITERATIONS } from './hashes.ts';

/** The values that client and server keep after an authentication, to repeat it in one round trip. */
export interface Known {
  /** `n` of client-first-message. */
  readonly saslname: string;
  /** client-first-message-bare, as received. */
  readonly bare: string;
  /** The identifier of the exchange, which every answer to the client carries. */
  readonly sid: string;
  /** When this was stored, in milliseconds since the epoch; absent before it is stored. */
  readonly since?: number;
}

/** The nonce of a reauthentication: c-nonce, nonce-count and `sr` (RFC 7804 section 7). */
export interface ReauthNonce {
  readonly clientNonce: string;
  readonly count: number;
  readonly sr: string;
  readonly state: NonceState;
}

export interface ReauthenticationOptions {
  readonly secret: Buffer;
  /** The scheme and realm for which the nonce is valid. */
  readonly context: string;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, 'put' | 'get'>;
  readonly useCounts: UseCounts;
  readonly limits: Pick<Limits, 'spend'>;
}

/**
 * Reauthentication in one round trip (RFC 7804 section 5.1). Its only message has no name, so the c-nonce identifies
 * the person. The client uses the c-nonce of its initial authentication again, as the RFC's example does, and the
 * server remembers whose it was. The server stores nothing for `sr`.
 */
export interface Reauthentication {
  /** Returns the parameters by which a challenge offers reauthentication. */
  invitation(): { readonly sr: string; readonly ttl: string };
  /** Reads a nonce; returns undefined if it does not end in an `sr` of this server. */
  read(nonce: string): ReauthNonce | undefined;
  /**
   * Remembers an authentication. `account`: the id of the person. The number per account is limited: further clients
   * authenticate in full again.
   */
  remember(clientNonce: string, known: Known, account: string): Promise<void>;
  recall(clientNonce: string): Promise<Known | undefined>;
  /** Uses up a nonce-count; returns `used` for a replay. */
  use(nonce: ReauthNonce): Promise<Use>;
}

/** Least seconds for which an `sr` is valid. */
export const TTL = 120;

/**
 * Seconds for which a client is remembered after its last success. A young entry is not renewed, to save a write to
 * the store.
 */
const MEMORY = 900;
const YOUNG = 60;

/** How many authentications of one account are remembered at once: 200 at most, since each is kept for `MEMORY`. */
const REMEMBERED = { burst: 100, per: MEMORY / 100 };

/** The first character of an `sr`. Neither a nonce-count nor a nonce of credentials/nonces.ts contains it. */
const MARK = '%';

/**
 * The digits of a nonce-count. It starts at the client's iteration count and directly follows the c-nonce. A c-nonce
 * may end in digits, so only the number of digits shows where the count begins. A client whose count has more or
 * fewer digits authenticates in full.
 */
const DIGITS = String(SCRAM_ITERATIONS).length;

export function createReauthentication({
  secret,
  context,
  clock,
  sessions,
  useCounts,
  limits,
}: ReauthenticationOptions): Reauthentication {
  const nonces = createNonces({ secret, clock });
  /** The id has a colon, which no `sid` has. */
  const idOf = (clientNonce: string) =>
    `scram:${createHash('sha256').update(`${context} ${clientNonce}`).digest('base64url')}`;

  return {
    invitation: () => ({ sr: `${MARK}${nonces.issue(context)}`, ttl: String(TTL) }),

    read(nonce) {
      const mark = nonce.lastIndexOf(MARK);
      const state = nonces.check(nonce.slice(mark + 1), context);
      if (mark <= DIGITS || state === 'unknown') return undefined;
      const digits = nonce.slice(mark - DIGITS, mark);
      const count = /^\d+$/.test(digits) ? Number(digits) : 0;
      const clientNonce = nonce.slice(0, mark - DIGITS);
      return { clientNonce, count, sr: nonce.slice(mark), state };
    },

    async remember(clientNonce, { since, ...known }, account) {
      // Each renewal uses up the account's limit, so a young entry is not renewed: one busy client would leave no
      // room for the account's other clients.
      if (since !== undefined && isWithin(clock, since, { life: YOUNG, skew: 0 })) return;
      const spent = await limits.spend('reauthentication', `${context} ${account}`, REMEMBERED);
      if (!spent.ok) return;
      await sessions.put({ ...known, since: clock.now() }, MEMORY, idOf(clientNonce));
    },

    recall: async (clientNonce) => (await sessions.get(idOf(clientNonce))) as Known | undefined,

    use: ({ clientNonce, sr, count }) =>
      useCounts.use('scram', `${context} ${clientNonce}${sr}`, count, {
        made: nonces.madeAt(sr.slice(MARK.length)),
        seconds: nonces.lifetime,
      }),
  };
}
