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

/** A second factor that ends all that was opened without it. */
export interface SecondFactorSetUp {
  readonly factor: SecondFactorRecord;
  /** The id of the set-up whose place it takes; absent: the person has none. */
  readonly replaces?: string;
  /** The person's generation when they showed who they are. */
  readonly generation: number;
  /** Milliseconds since the epoch, after which the raised generation may leave the feed. */
  readonly until: number;
}

/** The second factors of people, at most one each. Each change is atomic and durable. */
export interface SecondFactors {
  /** False when the person has one. */
  add(factor: SecondFactorRecord): Promise<boolean>;
  /**
   * Keeps a second factor and raises the person's generation, both or neither. Resolves to the new generation. Undefined:
   * the person's second factor is not the one that is replaced, or their generation was raised in between; then nothing
   * changes. Of several at once one succeeds.
   */
  setUp(setUp: SecondFactorSetUp): Promise<number | undefined>;
  get(accountId: string): Promise<SecondFactorRecord | undefined>;
  /** All, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly SecondFactorRecord[]>;
  /**
   * Uses up a time step of the set-up `id`, and all before it (RFC 6238 section 5.2). False: it was used up before, or
   * there is no such set-up any more. Of several uses of one step at once one succeeds.
   */
  useStep(accountId: string, id: string, step: number, at: number): Promise<boolean>;
  /**
   * Uses up a recovery code by its MAC, and resolves to how many are left. Undefined: the person has no such code any more.
   * One of several at once succeeds.
   */
  useRecovery(accountId: string, mac: string, at: number): Promise<number | undefined>;
  /**
   * Gives a person other recovery codes. False: the set-up or the codes of `seen` are no longer what the person has. One of
   * several at once succeeds.
   */
  renewRecovery(seen: SecondFactorRecord, macs: readonly string[]): Promise<boolean>;
  /** Removes the set-up `id`; absent: any. False when the person has none of that id. */
  remove(accountId: string, id?: string): Promise<boolean>;
}
