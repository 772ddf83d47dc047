/** The second factor of a person: a secret for one-time codes (RFC 6238), and recovery codes in its place. */
export interface SecondFactorRecord {
  readonly accountId: string;
  /** Names this set-up: a code that was checked with an earlier secret is not used up with this one. */
  readonly id: string;
  /** The secret, sealed under the master secret. */
  readonly sealed: string;
  /** The last time step whose code was used (RFC 6238 section 5.2). */
  readonly step: number;
  /** MACs of the recovery codes that are left. */
  readonly recovery: readonly string[];
  /** Milliseconds since the epoch, as all times here. */
  readonly created_at: number;
  readonly used_at?: number;
}

/** The second factors of people, at most one each. Each change is atomic and durable. */
export interface SecondFactors {
  /** False when the person has one. */
  add(factor: SecondFactorRecord): Promise<boolean>;
  get(accountId: string): Promise<SecondFactorRecord | undefined>;
  /** All, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly SecondFactorRecord[]>;
  /**
   * Uses up a time step of the set-up `id`, and all before it (RFC 6238 section 5.2). False: it was used up before, or
   * there is no such set-up any more. Of several uses of one step at once one succeeds.
   */
  useStep(accountId: string, id: string, step: number, at: number): Promise<boolean>;
  /** Uses up a recovery code by its MAC. False: the person has no such code any more. One of several at once succeeds. */
  useRecovery(accountId: string, mac: string, at: number): Promise<boolean>;
  /** Gives the set-up `id` other recovery codes. False: there is no such set-up any more. */
  renewRecovery(accountId: string, id: string, macs: readonly string[]): Promise<boolean>;
  /** False when the person has none. */
  remove(accountId: string): Promise<boolean>;
}
