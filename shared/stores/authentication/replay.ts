/** Tells the first use of a value from later uses (RFC 9449 section 11.1). */
export interface Replay {
  /**
   * True for exactly one caller within `seconds`, in all processes. `namespace` separates kinds of keys. `key` may be
   * any string; it is never stored in clear.
   */
  unique(namespace: string, key: string, seconds: number): Promise<boolean>;
  /** Whether the value was used. The question is no use. */
  seen(namespace: string, key: string): Promise<boolean>;
}
