import { setTimeout as sleep } from 'node:timers/promises';
import { fewATurn } from '#shared/base/few-a-turn.ts';
import { forAll } from '#shared/base/for-all.ts';
import { HttpError } from '#shared/http/answer.ts';
import { PAGE_ENTRIES, pageEntry, type RevocationPage } from '#shared/guard/revocation-page.ts';
import { randomId } from '#shared/base/random.ts';
import {
  type FeedPosition,
  precedes,
  writePosition,
} from '#shared/stores/revocation/feed-position.ts';
import type { FeedPage } from '#shared/stores/revocation/followers.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Parts } from '#shared/server/process.ts';
import { type Cursor, writeCursor } from './cursor.ts';
import { FollowerRow } from './follower-row.ts';
import { Register } from './register.ts';

/** Milliseconds between two looks at whether there is something new, while somebody follows. */
const PAUSE = 8;
/** Looks between two at whether anybody still does. */
const PRUNE = 32;

export interface Asked {
  readonly client: string;
  /** Undefined for who begins. */
  readonly after: Cursor | undefined;
  /** Milliseconds for which an answer without anything new may be held back. */
  readonly wait: number;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

export type FollowedParts = Pick<Parts, 'config' | 'stores' | 'feed' | 'clock' | 'random' | 'log'>;

const tooMany = () =>
  new HttpError(429, 'Too many of this client follow. Try again later.', { 'Retry-After': '1' });

/**
 * What the followers of this process are told, and what those who revoke know of it.
 *
 * Why nobody trusts what was revoked once that is acknowledged (shared/stores/revocation/acknowledged.ts): say R is written at
 * w, and a follower trusts an answer that lacks it, for a lease L from when its request was sent. (1) The answer is
 * of a reading that began after the request came, so the request came before w: at w + L nobody trusts it, whatever
 * happens to follower, process or network. (2) Before that reading the row of this process stood (`ensure`): so
 * whoever looks for rows after w sees it, or a later reading holds R. A row is removed by others when nothing was
 * written to it for 1.25 L, and nothing is told later than L/8 after a writing began: so it outlasts what is told.
 * (3) The row says that R is had only when each answer that lacks it has run out, counted from when its request
 * came, or that follower has asked for what comes behind R; answers under way count from their beginning. (4) A store that
 * lost its memory has lost its rows: until it is written there that all is settled, whoever revokes waits as in (1).
 * Each duration is measured by one clock alone.
 */
export class Followed {
  readonly #parts: FollowedParts;
  readonly #lease: number;
  readonly #register = new Register();
  readonly #row: FollowerRow;
  /** Wakes who waits for something new. */
  readonly #waiting = new Set<() => void>();
  /** One reading for all who ask for the same. */
  readonly #readings = new Map<string, () => Promise<FeedPage>>();
  /** What wakes many is told to a few at a time. */
  readonly #queue = fewATurn();
  #running = false;
  #publishes = false;
  #publishing = false;

  constructor(parts: FollowedParts) {
    const { config, stores, clock, random } = parts;
    this.#parts = parts;
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
    const told = follower?.begin(this.#register.position, now + this.#lease, now);
    if (follower === undefined || told === undefined) throw tooMany();
    try {
      this.#run();
      await this.#row.ensure();
      let page = await this.#read(after);
      // A position that nobody can have been given acknowledges nothing.
      if (after && after.epoch === page.epoch && !precedes(page.last, after.entry)) {
        // Who was told by another process is not held here: that one has to hear that it has it.
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
        entries: entries.map(({ until, ...revocation }) => pageEntry(revocation, until)),
        lease: complete ? this.#lease / 1000 : 0,
      };
    } catch (error) {
      follower.drop(told);
      throw error;
    } finally {
      told.pending = false;
    }
  }

  /** Begins after this call. */
  async #read(after: FeedPosition | undefined): Promise<FeedPage> {
    const key = after === undefined ? '' : writePosition(after);
    const { followers } = this.#parts.stores;
    const { position } = this.#register;
    const known = this.#readings.get(key);
    const reading = known ?? forAll(() => followers.page(after, PAGE_ENTRIES));
    this.#readings.set(key, reading);
    try {
      const page = await reading();
      if (!page.complete || page.epoch !== this.#row.epoch) return page;
      if (precedes(page.last, position)) {
        throw new StoreUnavailable('the store answers with less than it had');
      }
      if (precedes(this.#register.position, page.last)) this.#register.position = page.last;
      return page;
    } finally {
      this.#readings.delete(key);
    }
  }

  /** False after `wait`. */
  #somethingNew(wait: number, gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (is: boolean) => () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        gone.removeEventListener('abort', leave);
        resolve(is);
      };
      const [wake, leave] = [end(true), end(false)];
      const timer = setTimeout(end(false), wait);
      this.#waiting.add(wake);
      gone.addEventListener('abort', leave);
      if (gone.aborted) leave();
    });
  }

  /** Looks for something new while somebody follows; the row goes with the last. */
  #run(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { feed, clock, log } = this.#parts;
    for (let look = 1; ; look += 1) {
      if (precedes(this.#register.position, feed.status().cursor)) {
        for (const wake of this.#waiting) wake();
      }
      this.#publish();
      if (look % PRUNE === 0) {
        for (const client of this.#register.prune(clock.monotonic())) {
          log.warn('follower.silent', { client });
        }
      }
      if (this.#register.size === 0) break;
      await sleep(PAUSE, undefined, { ref: false });
    }
    this.#running = false;
    await this.#row.remove().catch(() => {}); // Who revokes next removes it.
  }

  /** Once for all who acknowledge in one turn of the event loop: it looks at every follower. */
  #publishSoon(): void {
    if (this.#publishes) return;
    this.#publishes = true;
    setImmediate(() => {
      this.#publishes = false;
      this.#publish();
    });
  }

  /** Writes what the followers have, if that is more than is written. */
  #publish(): void {
    const { clock } = this.#parts;
    const { position } = this.#register;
    if (this.#publishing || !precedes(this.#row.confirmed, position)) return;
    if (!precedes(this.#row.confirmed, this.#register.confirmed(clock.monotonic()))) return;
    this.#publishing = true;
    this.#row
      .write()
      .catch(() => {}) // Who asks next hears of it.
      .finally(() => (this.#publishing = false));
  }
}
