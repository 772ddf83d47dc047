import { hash } from 'node:crypto';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Turn } from '#shared/base/line.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import { turnAt, turnOf } from '#shared/http/turn.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import { RecentMap, remembering } from '#shared/base/recent-map.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import type { AuthRequest, Verdict } from '../scheme.ts';

type Unavailable = Extract<Verdict, { kind: 'unavailable' }>;

/**
 * Slows down guessing of secrets, for all schemes, without locking out the owner of an account: an account that
 * signed in from an address a short time ago uses up no attempts at that address until a sign-in fails.
 */
export interface Attempts {
  /**
   * Uses up one attempt of the address and one of the account, whether or not the account exists. Callers call
   * `begin` before they check a secret. Returns the answer for the client if the limit of either is exhausted.
   * Rejects with `StoreUnavailable`.
   */
  begin(account: string, address: string): Awaitable<Unavailable | undefined>;
  /**
   * Returns the queue for the slow work of an attempt: the account's, if it signed in from this address a short time
   * ago, otherwise the address's.
   */
  turn(account: string, request: Pick<AuthRequest, 'peer' | 'client'>): Turn;
  succeeded(account: string, address: string): void;
  failed(account: string, address: string): void;
}

export interface AttemptsOptions {
  readonly limits: Pick<Limits, 'spend'>;
  /** Limit of attempts with one account, from all addresses together. */
  readonly account: Rate;
  /** Limit of attempts from one IPv4 address or one IPv6 network. */
  readonly address: Rate;
}

/** Most pairs of account and address that are remembered. */
const KNOWN = 10_000;
/**
 * How many attempts of a remembered pair of account and address may run at once before one must succeed. A browser
 * sends up to 100 requests at once (RFC 9113 section 6.5.2).
 */
const FREE = 100;

/** How many names have a cached hash, and the most characters of such a name. */
const NAMES = { capacity: 1000, longest: 256 };

/** An account at an address from which it signed in a short time ago. */
interface Known {
  free: number;
  /**
   * True from a failure until an attempt uses up the limit: a success that began before the failure does not clear
   * the pair.
   */
  suspect: boolean;
}

/**
 * Creates `Attempts`. Each process remembers its own pairs of account and address; all processes share the limits.
 */
export function createAttempts({ limits, account, address }: AttemptsOptions): Attempts {
  const known = new RecentMap<Known>(KNOWN);
  const keyOf = remembering((name) => hash('sha256', name, 'base64url'), NAMES);
  const keysOf = (name: string, from: string) => {
    const customer = customerOf(from);
    const key = keyOf(name);
    return { customer, key, pair: `${customer} ${key}` };
  };

  async function pay(customer: string, key: string): Promise<Unavailable | undefined> {
    const paid = await limits.spend('credentials-address', customer, address);
    const spent = paid.ok ? await limits.spend('credentials-account', key, account) : paid;
    if (spent.ok) return undefined;
    const { retryAfter } = spent;
    return { kind: 'unavailable', status: 429, ...refuse('too-many-attempts'), retryAfter };
  }

  return {
    begin(name, from) {
      const { customer, key, pair } = keysOf(name, from);
      const here = known.get(pair);
      if (here !== undefined && here.free > 0) {
        here.free -= 1;
        return undefined;
      }
      return pay(customer, key).then((tooMany) => {
        if (tooMany === undefined && here !== undefined) here.suspect = false;
        return tooMany;
      });
    },

    turn(name, { peer, client }) {
      const here = known.get(keysOf(name, peer.address).pair);
      return here?.suspect === false ? turnOf(name, client) : turnAt(peer.address, client);
    },

    succeeded(name, from) {
      const { pair } = keysOf(name, from);
      if (known.get(pair)?.suspect !== true) known.set(pair, { free: FREE, suspect: false });
    },

    failed(name, from) {
      const here = known.get(keysOf(name, from).pair);
      if (here !== undefined) Object.assign(here, { free: 0, suspect: true });
    },
  };
}
