/** Decides whether something single-use is seen for the first time (RFC 9449 section 11.1). */
export interface Replay {
  /**
   * True for exactly one caller within `seconds`, whatever the number of callers and processes.
   * `namespace` separates kinds of keys; `key` may be any string and is never stored in clear.
   */
  unique(namespace: string, key: string, seconds: number): Promise<boolean>;
  /** Whether it counts as seen; makes nothing count. */
  seen(namespace: string, key: string): Promise<boolean>;
}
