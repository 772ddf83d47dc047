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
 * Slows down guessing of secrets, for all schemes, without locking out the owner of an account: an account that was
 * let in from an address lately is not counted at that address until it fails.
 */
export interface Attempts {
  /**
   * Takes one attempt from the bucket of the address and one from that of the account, whether or not the account
   * exists. Callers call it before they check a secret. Returns the answer for the client if either bucket is empty.
   * Rejects with `StoreUnavailable`.
   */
  begin(account: string, address: string): Awaitable<Unavailable | undefined>;
  /**
   * Whose turn the work for an attempt waits for: that of the account where it has been let in lately, and else that of
   * the address.
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

/** Pairs of account and address that are remembered. */
const KNOWN = 10_000;
/**
 * How many attempts of a known pair of name and address may run at once before one of them has to succeed. A browser
 * sends so many requests at once (RFC 9113 section 6.5.2 advises to allow 100).
 */
const FREE = 100;

/** How many names have a cached hash, and the most characters of such a name. */
const NAMES = { capacity: 1000, longest: 256 };

/** An account at an address from which it was let in lately. */
interface Known {
  free: number;
  /**
   * True from a failure until an attempt is paid for: a success that began before the failure does not clear the pair.
   */
  suspect: boolean;
}

/** Creates `Attempts`. Each process remembers known pairs by itself; the buckets are shared. */
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
