import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Log } from '#shared/base/log.ts';
import { type BanRule, readRule } from '#shared/http/ban-rule.ts';
import type { KeptInvalidation } from '#shared/stores/cache/invalidations.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { Stored } from '../rules/stored.ts';
import { isBelow } from '../rules/is-below.ts';
import { banMatch, type Spelling } from './ban-match.ts';

/** Bans that are remembered, at most; whatever was asked for before an older one counts as banned by it. */
const MOST = 1000;
/** Those of them that are listed: they go into a report every some seconds. */
const LISTED = 100;

/** The effect of a ban on an answer that was stored or asked for before it. */
export type Verdict = 'gone' | 'outdated' | undefined;

/** A ban, and how many answers it has met here. */
export interface BanCount {
  /** Undefined: of a newer server; it has everything. */
  readonly rule: BanRule | undefined;
  readonly soft: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly met: number;
  /** Whether the store was gone through. */
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
 * The bans of a space in this process. What is stored is compared with each when it is found, until the store was
 * gone through in the background; what is on its way, with those that came since it was asked for. No clock tells
 * what is older than a ban: bans have numbers here.
 */
export class Bans implements AsyncDisposable {
  readonly #parts: Parts;
  /** The last ones, oldest first. */
  readonly #bans: Ban[] = [];
  /** Number of the newest one that is remembered no longer. */
  #forgotten = 0;
  /** Number of the newest one that the store was gone through for. */
  #swept = 0;
  #newest = 0;
  /** While that goes on, by the id of what is stored: the number of the newest ban that it is known to outlive. */
  readonly #newer = new Map<string, number>();
  readonly #admitting = new Bag<Placed & { readonly over: Promise<unknown> }>();
  #sweeping: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** To be kept from when something is asked for until it is stored. */
  get mark(): number {
    return this.#newest;
  }

  /** How many the store was not gone through for; until then the store's position must stay behind them. */
  get pending(): number {
    return this.#newest - this.#swept;
  }

  /** The last ones, newest first. */
  list(): readonly BanCount[] {
    return this.#bans
      .flatMap(({ number, kind, rule, soft, at, met }) =>
        kind === 'ban' ? { rule, soft, at, met, swept: number <= this.#swept } : [],
      )
      .slice(-LISTED)
      .toReversed();
  }

  /** From the feed. What it has is found no longer once this returns. */
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

  /** Whether a ban that came after `mark` has an answer. */
  since(mark: number, stored: Stored): Verdict {
    if (mark < this.#forgotten) return 'gone';
    const has = this.#bans.filter((ban) => ban.number > mark && ban.has(stored));
    if (has.length === 0) return undefined;
    return has.every(({ soft }) => soft) ? 'outdated' : 'gone';
  }

  /** Stores an answer that was asked for at `mark`, unless a ban came since; undefined: it did. */
  async admit<T>(mark: number, stored: Stored, commit: () => Awaitable<T>): Promise<T | undefined> {
    if (this.since(mark, stored) !== undefined) return undefined;
    if (this.#sweeping) this.#newer.set(stored.id, this.#newest);
    // A ban that comes now looks through the store when this is in it.
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

  /** Goes through the store until there was no new ban meanwhile. */
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
      // They go on being compared with what is found; the next ban tries again.
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
