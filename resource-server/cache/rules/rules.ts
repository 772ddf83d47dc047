import type { Lines } from '../../forwarding/fields.ts';

/** The configuration of the cache of one space. */
export interface Rules {
  /** Whether all principals share answers. Otherwise each principal has its own (RFC 9111 section 1). */
  readonly shared: boolean;
  /** Whether answers without an explicit lifetime get one (RFC 9111 section 4.2.2). */
  readonly heuristic: boolean;
  /**
   * The names of the targeted fields for this cache, in lower case, the most applicable first (RFC 9213 section 2.2).
   */
  readonly targeted: readonly string[];
  /**
   * Names in lower case of fields that the gateway writes, or that it passes on only from some senders. The client's
   * values do not show the application's.
   */
  readonly made: ReadonlySet<string>;
  /** The origin of the space, as clients write it. */
  readonly origin: string;
}

/** A request as the cache rules see it. */
export interface Asked {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  /** As in `CacheKey`. */
  readonly target: string;
  /** Whether any scheme authenticated the request, which has the effect of Authorization (RFC 9111 section 3.5). */
  readonly guarded: boolean;
}

/** The head of a final answer, with its lines as the client gets them. */
export interface Given {
  readonly status: number;
  readonly lines: Lines;
}

/** The times of the request for an answer and of its arrival, in milliseconds since the epoch. */
export interface Times {
  readonly requested: number;
  readonly received: number;
}
