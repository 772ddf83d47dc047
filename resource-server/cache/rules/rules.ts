import type { Lines } from '../../forwarding/fields.ts';

/** How the cache of one space is meant. */
export interface Rules {
  /** One set of answers for all; else each principal has a set of their own (RFC 9111 section 1). */
  readonly shared: boolean;
  /** Answers without an explicit lifetime get one (RFC 9111 section 4.2.2). */
  readonly heuristic: boolean;
  /** Names of the targeted fields that are for this cache, in lower case, the most applicable first (RFC 9213 section 2.2). */
  readonly targeted: readonly string[];
  /**
   * In lower case: what the application gets in these fields is written by the gateway, or depends on who sent it, so
   * that the client's values tell nothing.
   */
  readonly made: ReadonlySet<string>;
  /** The origin of the space, as clients write it. */
  readonly origin: string;
}

/** A request as the cache sees it. */
export interface Asked {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  /** As in `CacheKey`. */
  readonly target: string;
  /** Somebody was let in by whichever scheme: counts as Authorization (RFC 9111 section 3.5). */
  readonly guarded: boolean;
}

/** The head of a final answer, with its lines as the client gets them. */
export interface Given {
  readonly status: number;
  readonly lines: Lines;
}

/** When an answer was asked for and when it came, in milliseconds since the epoch. */
export interface Times {
  readonly requested: number;
  readonly received: number;
}
