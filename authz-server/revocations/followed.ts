import { fewATurn } from '#shared/base/few-a-turn.ts';
import { forAll } from '#shared/base/for-all.ts';
import { HttpError } from '#shared/http/answer.ts';
import { PAGE_ENTRIES, pageEntry, type RevocationPage } from '#shared/guard/revocation-page.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { randomId } from '#shared/base/random.ts';
import { systemTimers, type Timers } from '#shared/base/timers.ts';
import { type FeedPosition, writePosition } from '#shared/stores/revocation/feed-position.ts';
import type { FeedPage } from '#shared/stores/revocation/followers.ts';
import { trustedFor } from '#shared/stores/revocation/lease.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Parts } from '#shared/server/process.ts';
import { type Cursor, writeCursor } from './cursor.ts';
import { FollowerRow } from './follower-row.ts';
import { MOST_FOLLOWERS, Register } from './register.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

/** Milliseconds between two checks for new revocations while this process has followers. */
const PAUSE = 8;
/** The number of those checks between two checks whether any follower is left. */
const PRUNE = 32;
const MINUTE = 60_000;

export interface Asked {
  readonly client: string;
  /** The cursor; undefined for a new follower. */
  readonly after: Cursor | undefined;
  /** Milliseconds for which an answer without new revocations may be held back. */
  readonly wait: number;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
}

export type FollowedParts = Pick<Parts, 'config' | 'stores' | 'feed' | 'clock' | 'random' | 'log'>;

/** A page in the form that followers get. */
type ToldPage = Omit<FeedPage, 'entries'> & Pick<RevocationPage, 'entries'>;

/** The digests are made once for all followers that get the page. */
const toldPage = ({ entries, ...page }: FeedPage): ToldPage => ({
  ...page,
  entries: entries.map(({ until, ...revocation }) => pageEntry(revocation, until)),
});

const AHEAD =
  'it knows more than the store has: if PostgreSQL was restored to an earlier point, stop all servers and run `countersign restore --database`';

const tooMany = () =>
  new HttpError(429, 'Too many of this client follow. Try again later.', { 'Retry-After': '1' });

/**
 * Answers the followers of this process with revocations, and lets revoking processes know how far the followers are.
 *
 * Why nobody trusts a revoked token once its revocation is acknowledged (shared/stores/revocation/acknowledged.ts):
 * assume that a revocation R is written at time w, and that a follower trusts an answer without R for a lease L from
 * when it sent its request. (1) The answer comes from a reading that began after the request arrived. It lacks R, so
 * the request arrived before w. At w + L nobody trusts the answer, whatever happens to the follower, the process or the
 * network. (2) The row of this process was written before that reading (`ensure`). So a process that looks for rows
 * after w sees the row, or a later reading has R. Other processes remove a row if it was not written for 1.25 L, and
 * this process gives no answer later than L/8 after a write began. So the row outlasts the answers. (3) The row says
 * that R is known only when each answer without R has expired, or when its follower has asked for the entries after R.
 * The expiry counts from when the request arrived, with a tenth more for a follower whose clock is slow. Unfinished
 * answers count from their beginning. (4) A store that lost its memory has lost its rows. Until a row says that
 * everything is settled, every revoking process waits as in (1). Each duration is measured by a single clock;
 * `e2e/simulation` lets clocks, machines and networks fail.
 */
export class Followed {
  readonly #parts: FollowedParts;
  readonly #timers: Pick<Timers, 'sleep' | 'later'>;
  readonly #lease: number;
  readonly #register = new Register();
  readonly #row: FollowerRow;
  /** Callbacks that wake the requests waiting for new revocations. */
  readonly #waiting = new Set<() => void>();
  /** Readings of the feed that all requests for the same position share. */
  readonly #readings = new Map<string, () => Promise<ToldPage>>();
  /** Answers the waiting followers a few at a time. */
  readonly #queue = fewATurn();
  /** The time of the last log line about a client, by `monotonic()`. */
  readonly #said = new RecentMap<number>(4 * MOST_FOLLOWERS.all);
  #running = false;
  #publishes = false;
  #publishing = false;

  constructor(parts: FollowedParts, timers: Pick<Timers, 'sleep' | 'later'> = systemTimers) {
    const { config, stores, clock, random } = parts;
    this.#parts = parts;
    this.#timers = timers;
    this.#lease = config.revocations.lease * 1000;
    const { followers } = stores;
    const [register, lease] = [this.#register, this.#lease];
    this.#row = new FollowerRow({ followers, register, clock, random, lease });
  }

  async tell({ client, after, wait, gone }: Asked): Promise<RevocationPage> {
    const { clock, random } = this.#parts;
    const now = clock.monotonic();
    const id = after?.follower ?? randomId(random);
    const follower = this.#register.follower(client, id);
    const told = follower?.begin(this.#register.position, now + trustedFor(this.#lease), now);
    if (follower === undefined || told === undefined) throw tooMany();
    try {
      this.#run();
      await this.#row.ensure();
      let page = await this.#read(after);
      // This store never gave a follower an entry after its last one, so such a cursor acknowledges nothing and the
      // follower begins again.
      const isOfMemory = after !== undefined && after.epoch === page.epoch;
      if (isOfMemory && after.entry > page.last) {
        if (this.#isUnsaid(`ahead ${client}`)) {
          this.#parts.log.error('follower.ahead', { client, reason: AHEAD });
        }
      } else if (isOfMemory) {
        // A follower that got entries from another process is answered at once: the other process must learn that the
        // follower has them.
        const held = follower.acknowledge(after.entry) ? 0 : wait;
        this.#publishSoon();
        if (page.entries.length === 0 && (await this.#somethingNew(held, gone))) {
          page = await this.#read(after);
        }
      }
      await this.#queue();
      const { epoch, last, complete, entries } = page;
      if (epoch === undefined || epoch !== this.#row.epoch) this.#row.forget();
      if (epoch === undefined || !this.#register.knows(follower)) {
        throw new StoreUnavailable('the store has another memory than those who follow');
      }
      told.upTo = last;
      if (!complete || gone.aborted) follower.drop(told);
      return {
        epoch,
        cursor: writeCursor({ entry: last, follower: id, epoch }),
        entries,
        lease: complete ? this.#lease / 1000 : 0,
      };
    } catch (error) {
      follower.drop(told);
      throw error;
    } finally {
      told.pending = false;
    }
  }

  /** Reads a page of the feed; the reading begins after this call. */
  async #read(after: FeedPosition | undefined): Promise<ToldPage> {
    const key = after === undefined ? '' : writePosition(after);
    const { followers } = this.#parts.stores;
    const { position } = this.#register;
    const known = this.#readings.get(key);
    const reading =
      known ?? forAll(async () => toldPage(await followers.page(after, PAGE_ENTRIES)));
    this.#readings.set(key, reading);
    try {
      const page = await reading();
      if (!page.complete || page.epoch !== this.#row.epoch) return page;
      if (page.last < position) {
        throw new StoreUnavailable('the store answers with less than it had');
      }
      this.#register.position = Math.max(this.#register.position, page.last);
      return page;
    } finally {
      this.#readings.delete(key);
    }
  }

  /** Resolves to false after `wait`. */
  #somethingNew(wait: number, gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (is: boolean) => () => {
        forget();
        this.#waiting.delete(wake);
        gone.removeEventListener('abort', leave);
        resolve(is);
      };
      const [wake, leave] = [end(true), end(false)];
      const forget = this.#timers.later(wait, leave);
      this.#waiting.add(wake);
      gone.addEventListener('abort', leave);
      if (gone.aborted) leave();
    });
  }

  /**
   * Whether no such log line about a client was written within the last minute; a client may cause any number of them.
   */
  #isUnsaid(what: string): boolean {
    const now = this.#parts.clock.monotonic();
    if (now - (this.#said.get(what) ?? -Infinity) < MINUTE) return false;
    this.#said.set(what, now);
    return true;
  }

  /** Checks for new revocations while there are followers, and removes the row after the last one. */
  #run(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { clock, log } = this.#parts;
    for (let look = 1; ; look += 1) {
      if (this.#register.position < (await this.#last())) {
        for (const wake of this.#waiting) wake();
      }
      this.#publish();
      if (look % PRUNE === 0) {
        for (const client of this.#register.prune(clock.monotonic())) {
          if (this.#isUnsaid(`silent ${client}`)) log.warn('follower.silent', { client });
        }
      }
      if (this.#register.size === 0) break;
      await this.#timers.sleep(PAUSE, { ref: false });
    }
    this.#running = false;
    await this.#row.remove().catch(() => {}); // if this fails, the next process that revokes removes the row
  }

  /** Returns the last entry of the feed, read now; if the store does not answer, returns the last known entry. */
  async #last(): Promise<number> {
    const { feed } = this.#parts;
    try {
      await feed.latest();
    } catch {
      // The followers wait meanwhile.
    }
    return Number(feed.status().cursor);
  }

  /**
   * Publishes once per turn of the event loop, even if many followers acknowledge, since publishing reads every
   * follower.
   */
  #publishSoon(): void {
    if (this.#publishes) return;
    this.#publishes = true;
    setImmediate(() => {
      this.#publishes = false;
      this.#publish();
    });
  }

  /** Writes the entry up to which the followers know everything, if it is later than the written entry. */
  #publish(): void {
    const { clock } = this.#parts;
    const { position } = this.#register;
    if (this.#publishing || this.#row.confirmed >= position) return;
    if (this.#row.confirmed >= this.#register.confirmed(clock.monotonic())) return;
    this.#publishing = true;
    this.#row
      .write()
      .catch(() => {}) // the next request meets the same error
      .finally(() => (this.#publishing = false));
  }
}
