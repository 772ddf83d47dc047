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
  /** The identifier of the exchange. Every answer to the client carries it. */
  readonly sid: string;
  /** When this was remembered; absent: it is not yet. Milliseconds since the epoch. */
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
  /** Scheme and realm, which all of this is good for. */
  readonly context: string;
  readonly clock: Clock;
  readonly sessions: Pick<Sessions, 'put' | 'get'>;
  readonly useCounts: UseCounts;
  readonly limits: Pick<Limits, 'spend'>;
}

/**
 * One round-trip reauthentication (RFC 7804 section 5.1). Its only message says no name. What tells us
 * whose it is, is the c-nonce: the client uses that of its initial authentication again, as the example
 * in the RFC does, and we remember who that was. `sr` needs no memory.
 */
export interface Reauthentication {
  /** Parameters of a challenge that invites to it. */
  invitation(): { readonly sr: string; readonly ttl: string };
  /** Undefined: the nonce does not end in an `sr` of ours. */
  read(nonce: string): ReauthNonce | undefined;
  /** `account`: the id of the person. Of one account only so many are remembered: the others authenticate in full again. */
  remember(clientNonce: string, known: Known, account: string): Promise<void>;
  recall(clientNonce: string): Promise<Known | undefined>;
  /** `used`: a replay. */
  use(nonce: ReauthNonce): Promise<Use>;
}

/** Seconds that an `sr` is good for at least. */
export const TTL = 120;

/** Seconds after the last success, but for those of which the memory is young: they cost no write to the store. */
const MEMORY = 900;
const YOUNG = 60;

/** Authentications of one account that are remembered: 200 at most, since each is for `MEMORY`. */
const REMEMBERED = { burst: 100, per: MEMORY / 100 };

/** Begins an `sr`; no nonce-count and no nonce of credentials/nonces.ts has it. */
const MARK = '%';

/**
 * nonce-count begins at the client's iteration count and stands behind the c-nonce, which may end in
 * digits, so that only a number of digits tells where it begins. Who has another number of iterations,
 * or has counted so far, authenticates in full.
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
  /** With a colon, which no `sid` has. */
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
      // One busy client would leave nothing for the others of its account.
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
