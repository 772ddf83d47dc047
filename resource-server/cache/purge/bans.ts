import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Log } from '#shared/base/log.ts';
import { type BanRule, readRule } from '#shared/http/ban-rule.ts';
import type { KeptInvalidation } from '#shared/stores/cache/invalidations.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { Stored } from '../rules/stored.ts';
import { isBelow } from '../rules/is-below.ts';
import { banMatch, type Spelling } from './ban-match.ts';

/** The most bans that are remembered. An answer requested before older bans counts as banned. */
const MOST = 1000;
/** The most bans in a report, which is written every 20 seconds. */
const LISTED = 100;

/** The effect of a ban on an answer that was stored or asked for before it. */
export type Verdict = 'gone' | 'outdated' | undefined;

/** A ban, and the number of answers that it has matched in this process. */
export interface BanCount {
  /** Undefined: written by a newer server and unknown here, so it matches every answer. */
  readonly rule: BanRule | undefined;
  readonly soft: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly met: number;
  /** Whether the store was swept for this ban. */
  readonly swept: boolean;
}

export type Added = Pick<KeptInvalidation, 'kind' | 'value' | 'soft' | 'at'>;

interface Ban {
  readonly number: number;
  readonly kind: Added['kind'];
  readonly rule: BanRule | undefined;
  readonly soft: boolean;
  readonly at: number;
  readonly has: (stored: Stored) => boolean;
  met: number;
}

interface Parts {
  readonly store: Pick<CacheStore, 'removeWhere'>;
  readonly spelling: Spelling;
  readonly log: Log;
}

/**
 * The bans of a space in this process.
 * A found answer is compared with each ban until a background sweep of the store is done. An answer on its way is
 * compared with the bans since its request. Bans have numbers, so that no clock decides which answers are older than a
 * ban.
 */
export class Bans implements AsyncDisposable {
  readonly #parts: Parts;
  /** The latest bans, oldest first. */
  readonly #bans: Ban[] = [];
  /** The number of the newest ban that is no longer remembered. */
  #forgotten = 0;
  /** The number of the newest ban for which the store was swept. */
  #swept = 0;
  #newest = 0;
  /** During a sweep, by the id of a stored answer: the newest ban that was issued before the answer was requested. */
  readonly #newer = new Map<string, number>();
  readonly #admitting = new Bag<Placed & { readonly over: Promise<unknown> }>();
  #sweeping: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The number of the newest ban, which a caller keeps from the request of an answer until it is stored. */
  get mark(): number {
    return this.#newest;
  }

  /**
   * The number of bans for which the store was not swept yet. Until it is zero, the stored position must not pass them.
   */
  get pending(): number {
    return this.#newest - this.#swept;
  }

  /** The latest bans, newest first. */
  list(): readonly BanCount[] {
    return this.#bans
      .flatMap(({ number, kind, rule, soft, at, met }) =>
        kind === 'ban' ? { rule, soft, at, met, swept: number <= this.#swept } : [],
      )
      .slice(-LISTED)
      .toReversed();
  }

  /** Adds a ban from the feed. Matching answers are not used after this returns. */
  add({ kind, value, soft, at }: Added): void {
    const { rule, has } = kind === 'tree' ? ofTree(value) : this.#ofRule(value);
    this.#bans.push({ number: ++this.#newest, kind, rule, soft, at, has, met: 0 });
    if (this.#bans.length > MOST) this.#forgotten = this.#bans.shift()?.number ?? 0;
    this.#sweeping ??= this.#sweep();
  }

  /** Returns the found answers that may be used. */
  among(found: readonly Stored[]): readonly Stored[] {
    if (this.pending === 0) return found;
    return found.flatMap((stored) => {
      const verdict = this.#ofStored(stored);
      if (verdict === 'gone') return [];
      return verdict === 'outdated' ? { ...stored, outdated: true } : stored;
    });
  }

  /** Returns the effect on an answer of the bans after `mark`. */
  since(mark: number, stored: Stored): Verdict {
    if (mark < this.#forgotten) return 'gone';
    const has = this.#bans.filter((ban) => ban.number > mark && ban.has(stored));
    if (has.length === 0) return undefined;
    return has.every(({ soft }) => soft) ? 'outdated' : 'gone';
  }

  /** Stores an answer that was requested at `mark`. Undefined: a ban since then matches it, so it is not stored. */
  async admit<T>(mark: number, stored: Stored, commit: () => Awaitable<T>): Promise<T | undefined> {
    if (this.since(mark, stored) !== undefined) return undefined;
    if (this.#sweeping) this.#newer.set(stored.id, this.#newest);
    // A ban that arrives now sweeps the store only after this answer is stored.
    const over = (async () => commit())();
    const admitting = { over, place: -1 };
    this.#admitting.add(admitting);
    try {
      return await over;
    } finally {
      this.#admitting.delete(admitting);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping;
  }

  #ofRule(value: string): Pick<Ban, 'rule' | 'has'> {
    const rule = readRule(value);
    return { rule, has: rule === undefined ? () => true : banMatch(rule, this.#parts.spelling) };
  }

  #ofStored(stored: Stored): Verdict {
    return this.since(Math.max(this.#swept, this.#newer.get(stored.id) ?? 0), stored);
  }

  /** Sweeps the store until no new ban arrived during a sweep. */
  async #sweep(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      while (this.pending > 0) {
        const newest = this.#newest;
        await Promise.allSettled(this.#admitting.toArray().map(({ over }) => over));
        await store.removeWhere((stored) => this.#meets(stored, 'gone'), false);
        await store.removeWhere((stored) => this.#meets(stored, 'outdated'), true);
        this.#swept = newest;
      }
    } catch (error) {
      // The bans stay in memory and are compared with found answers. The next ban sweeps again.
      log.error('cache.ban.failed', { reason: (error as Error).message });
    } finally {
      this.#newer.clear();
      this.#sweeping = undefined;
    }
  }

  #meets(stored: Stored, verdict: Verdict): boolean {
    if (stored.outdated && verdict === 'outdated') return false;
    if (this.#ofStored(stored) !== verdict) return false;
    const ban = this.#bans.find(({ number, has }) => number > this.#swept && has(stored));
    if (ban) ban.met++;
    return true;
  }
}

/** Turns the invalidation of a path and everything below it into a ban. */
function ofTree(path: string): Pick<Ban, 'rule' | 'has'> {
  return { rule: undefined, has: ({ target }) => isBelow(target, path) };
}
