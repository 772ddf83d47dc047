import { hash } from 'node:crypto';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { customerOf } from '#shared/http/forwarded.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { Verdict } from '../scheme.ts';

type Unavailable = Extract<Verdict, { kind: 'unavailable' }>;

/**
 * Slows down who guesses, whatever the scheme, without locking out who knows: an account that was let in
 * from an address lately is not counted there until it fails.
 */
export interface Attempts {
  /**
   * Before a secret is looked at: takes from the bucket of the address and from that of the account,
   * whether or not there is such an account. Comes to what the client is told when either is empty.
   * Rejects with `StoreUnavailable`.
   */
  begin(account: string, address: string): Awaitable<Unavailable | undefined>;
  succeeded(account: string, address: string): void;
  failed(account: string, address: string): void;
}

export interface AttemptsOptions {
  readonly limits: Pick<Limits, 'spend'>;
  /** Attempts with one account, from wherever. */
  readonly account: Rate;
  /** Attempts from one address, or one IPv6 network. */
  readonly address: Rate;
}

/** Pairs of account and address that are remembered. */
const KNOWN = 10_000;
/**
 * Attempts of a known pair that may be under way before one has to succeed: the requests that a browser
 * sends at once (RFC 9113 section 6.5.2 advises to allow 100).
 */
const FREE = 100;

/** An account at an address from which it was let in lately. */
interface Known {
  free: number;
  /** Nothing was paid since the last failure: a success that began before it clears nobody. */
  suspect: boolean;
}

/** What is known is known to this process alone; the buckets are shared. */
export function createAttempts({ limits, account, address }: AttemptsOptions): Attempts {
  const known = new RecentMap<Known>(KNOWN);
  const keysOf = (name: string, from: string) => {
    const customer = customerOf(from);
    const key = hash('sha256', name, 'base64url');
    return { customer, key, pair: `${customer} ${key}` };
  };

  async function pay(customer: string, key: string): Promise<Unavailable | undefined> {
    const paid = await limits.spend('credentials-address', customer, address);
    const spent = paid.ok ? await limits.spend('credentials-account', key, account) : paid;
    if (spent.ok) return undefined;
    const { retryAfter } = spent;
    return { kind: 'unavailable', status: 429, reason: 'too many attempts', retryAfter };
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
