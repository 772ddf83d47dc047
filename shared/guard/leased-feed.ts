import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { systemTimers, type Timers } from '#shared/base/timers.ts';
import { RevocationSet } from '#shared/stores/revocation/revocation-set.ts';
import type {
  RevocationFeed,
  RevocationStatus,
  RevocationView,
} from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { digestOf, type RevocationPage } from './revocation-page.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';

/** Milliseconds to wait for the first answers, until an answer gives the length of a lease. */
const FIRST = 5_000;
/** Milliseconds before another attempt; they double up to the longest. */
const PAUSE = { first: 50, longest: 1_000 };
/** Milliseconds between two sweeps of the set. */
const SWEEP = 1_000;

export interface LeasedFeedOptions {
  /**
   * Sends `GET {issuer}/revocations?after=…&wait=…` (`wait` in seconds; without `after`: from the beginning). Rejects
   * unless the answer is 200; the feed then asks again after a pause.
   */
  ask(after: string | undefined, wait: number, signal: AbortSignal): Promise<RevocationPage>;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the timers of the system. */
  readonly timers?: Pick<Timers, 'sleep' | 'timeout'>;
  /** Seconds after the lease for which known revocations are still used; default: none. */
  readonly stale?: number | undefined;
}

/** The moment when a request was sent, by both clocks. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/**
 * Follows the revocations of an authorization server with another store. The known revocations are trusted for a
 * lease, which begins when the last answered request was **sent**. The server waits as long before it confirms a
 * revocation (authz-server/revocations/). A verdict sends no request.
 */
export function leasedFeed(options: LeasedFeedOptions): RevocationFeed {
  return new LeasedFeed(options);
}

class LeasedFeed implements RevocationFeed {
  readonly #options: LeasedFeedOptions;
  readonly #timers: Pick<Timers, 'sleep' | 'timeout'>;
  readonly #set = new RevocationSet();
  readonly #view = digestedView(this.#set);
  readonly #listeners: ((kid: string) => void)[] = [];
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;
  #cursor: string | undefined;
  /** Milliseconds of the lease; 0 before the first answer. */
  #lease = 0;
  #sent: Moment = { monotonic: -Infinity, wall: -Infinity };
  /** The attempt under way, or the last attempt. */
  #attempt: Promise<unknown> = Promise.resolve();
  #swept = -Infinity;
  #isStale = false;

  constructor(options: LeasedFeedOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#ended = this.#run();
  }

  /** Throws, which gives 503, if the last answer is older than the lease: then no token is accepted. */
  current(): RevocationView {
    if (this.#isWithin(this.#lease)) return this.#view;
    if (this.#isWithin(this.#lease + (this.#options.stale ?? 0) * 1000)) {
      this.#turnStale(true);
      return this.#view;
    }
    throw new StoreUnavailable('the revocations of the issuer are not known');
  }

  /**
   * Returns the known revocations without a request during the lease; afterwards it waits for the request under way.
   */
  latest(): RevocationView | Promise<RevocationView> {
    return this.#isWithin(this.#lease) ? this.#view : this.#attempt.then(() => this.current());
  }

  onKeyRevoked(listener: (kid: string) => void): void {
    this.#listeners.push(listener);
  }

  status(): RevocationStatus {
    return {
      entries: this.#set.size,
      epoch: this.#set.epoch,
      cursor: this.#cursor ?? '0',
      silence: this.#options.clock.monotonic() - this.#sent.monotonic,
      trusted: this.#isWithin(this.#lease),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#ended;
  }

  /**
   * True if the last answered request was sent within that time, by both clocks: one is paused while a machine
   * sleeps, and the other may be set.
   */
  #isWithin(milliseconds: number): boolean {
    const { monotonic, wall } = this.#now();
    const [steady, set] = [monotonic - this.#sent.monotonic, wall - this.#sent.wall];
    return !this.#end.signal.aborted && steady < milliseconds && set >= 0 && set < milliseconds;
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    let pause = 0;
    while (!signal.aborted) {
      const asking = this.#ask(pause > 0);
      this.#attempt = asking.catch(() => {});
      try {
        await asking;
        pause = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (pause === 0)
          this.#options.log.warn('revocations.interrupted', { reason: String(error) });
        pause = Math.min(Math.max(pause * 2, PAUSE.first), PAUSE.longest);
        await this.#timers.sleep(pause, { signal }).catch(() => {});
      }
    }
  }

  /** Sends one request. `again`: the last request failed, so the server should answer this one at once. */
  async #ask(again: boolean): Promise<void> {
    const sent = this.#now();
    // Entries that were forgotten while the clock was ahead are needed again, so all entries are fetched again.
    if (sent.wall < this.#sent.wall) this.#cursor = undefined;
    const wait = again ? 0 : this.#lease / 4000;
    const patience = this.#lease === 0 ? FIRST : this.#lease / 2;
    const signal = AbortSignal.any([this.#end.signal, this.#timers.timeout(patience)]);
    const page = await this.#options.ask(this.#cursor, wait, signal);
    this.#apply(page);
    this.#cursor = page.cursor;
    if (page.lease === 0) return;
    this.#lease = page.lease * 1000;
    this.#sent = sent;
    this.#turnStale(false);
    this.#sweep(sent.wall);
  }

  #apply({ epoch, entries }: RevocationPage): void {
    if (epoch !== this.#set.epoch) this.#sent = { monotonic: -Infinity, wall: -Infinity };
    this.#set.epoch = epoch;
    for (const { until, ...revocation } of entries) {
      this.#set.apply(revocation, until);
      if (revocation.kind !== 'key') continue;
      for (const listener of this.#listeners) listener(revocation.id);
    }
  }

  #turnStale(stale: boolean): void {
    if (stale === this.#isStale) return;
    this.#isStale = stale;
    const { log } = this.#options;
    if (stale) log.warn('revocations.stale');
    else log.info('revocations.followed');
  }

  #sweep(now: number): void {
    if (now - this.#swept < SWEEP) return;
    this.#set.sweep(now);
    this.#swept = now;
  }
}

/** Returns a view of a set of digests that is queried by identifiers. It digests the identifiers of a token once. */
function digestedView(set: RevocationSet): RevocationView {
  const digested = new WeakMap<RevocableClaims, RevocableClaims>();

  function digestedClaims(claims: RevocableClaims): RevocableClaims {
    const known = digested.get(claims);
    if (known !== undefined) return known;
    const { jti, sub, client_id, grant_id } = claims;
    const made = {
      ...claims,
      jti: digestOf(jti),
      sub: digestOf(sub),
      client_id: digestOf(client_id),
      ...(grant_id !== undefined && { grant_id: digestOf(grant_id) }),
    };
    digested.set(claims, made);
    return made;
  }

  return {
    get epoch() {
      return set.epoch;
    },
    get raises() {
      return set.raises;
    },
    revokedBy: (claims) => set.revokedBy(digestedClaims(claims)),
    generation: (id) => set.generation(digestOf(id)),
    raisedSince: (id, raises) => set.raisedSince(digestOf(id), raises),
  };
}
