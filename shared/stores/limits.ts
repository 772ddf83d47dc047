export interface Rate {
  /** How many may come at once. */
  readonly burst: number;
  /** Seconds after which one more is allowed. */
  readonly per: number;
}

export type Spent =
  | {
      readonly ok: true;
      /** How many more may come now. */
      readonly remaining: number;
      /** Seconds (>= 1) until the bucket is full again. */
      readonly reset: number;
    }
  | { readonly ok: false; readonly retryAfter: number };

/** Throttling: a token bucket for each key, shared by all processes. */
export interface Limits {
  /**
   * Takes one from the bucket of `key`; when it is empty says after how many seconds (>= 1) to retry:
   * never more than `per`, whatever an earlier rate or a clock that was ahead has left behind.
   */
  spend(namespace: string, key: string, rate: Rate): Promise<Spent>;
  /** Gives one back that was taken; a bucket is never fuller than full. */
  giveBack(namespace: string, key: string, rate: Rate): Promise<void>;
}
