import { fairShare } from '#shared/base/counts.js';
import { Follower } from './follower.ts';

/**
 * The most followers of one process: for one client, within the share that others leave (`fairShare`), and in total.
 */
export const MOST_FOLLOWERS = { client: 256, all: 2_048 };

/** The followers of this process. */
export class Register {
  /** The last entry that this process has read; every later answer contains all entries up to it. */
  position = 0;
  readonly #clients = new Map<string, Map<string, Follower>>();

  get size(): number {
    let size = 0;
    for (const { size: own } of this.#clients.values()) size += own;
    return size;
  }

  /** Returns a follower, or undefined while there are too many. */
  follower(client: string, id: string): Follower | undefined {
    const known = this.#clients.get(client)?.get(id);
    if (known !== undefined) return known;
    if (this.#isFull(client)) return undefined;
    const own = this.#clients.get(client) ?? new Map<string, Follower>();
    const follower = new Follower(client, id);
    own.set(id, follower);
    this.#clients.set(client, own);
    return follower;
  }

  /** True if the follower has not been forgotten. */
  knows(follower: Follower): boolean {
    return this.#clients.get(follower.client)?.get(follower.id) === follower;
  }

  /** Returns the entry up to which every answer that a follower still trusts is complete. */
  confirmed(now: number): number {
    let least = this.position;
    for (const own of this.#clients.values()) {
      for (const follower of own.values()) {
        least = Math.min(least, follower.confirmed(now) ?? least);
      }
    }
    return least;
  }

  /**
   * Forgets followers that trust no answer any more. Returns the clients of the followers that never got every entry.
   */
  prune(now: number): ReadonlySet<string> {
    const silent = new Set<string>();
    for (const [client, own] of this.#clients) {
      for (const [id, follower] of own) {
        if (follower.confirmed(now) !== undefined) continue;
        if (follower.has < this.position) silent.add(client);
        own.delete(id);
      }
      if (own.size === 0) this.#clients.delete(client);
    }
    return silent;
  }

  clear(): void {
    this.position = 0;
    this.#clients.clear();
  }

  #isFull(client: string): boolean {
    const { size: own = 0 } = this.#clients.get(client) ?? {};
    const { client: alone, all } = MOST_FOLLOWERS;
    return own >= fairShare(alone, all, this.size - own);
  }
}
