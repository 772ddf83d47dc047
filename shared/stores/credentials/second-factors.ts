/** The second factor of a person: a secret for one-time codes (RFC 6238), and recovery codes in its place. */
export interface SecondFactorRecord {
  readonly accountId: string;
  /** The identifier of this set-up: a code for an earlier secret uses up no step of this one. */
  readonly id: string;
  /** The secret, sealed under the master secret. */
  readonly sealed: string;
  /** The last time step of a used code (RFC 6238 section 5.2). */
  readonly step: number;
  /** MACs of the remaining recovery codes. */
  readonly recovery: readonly string[];
  /** Milliseconds since the epoch, like all times in this file. */
  readonly created_at: number;
  readonly used_at?: number;
}

/** A new second factor, which ends all sessions and tokens that were opened without it. */
export interface SecondFactorSetUp {
  readonly factor: SecondFactorRecord;
  /** The id of the replaced set-up; absent: the person has none. */
  readonly replaces?: string;
  /** The generation of the person when they authenticated. */
  readonly generation: number;
  /** Milliseconds since the epoch, after which the feed may forget the new generation. */
  readonly until: number;
}

/** The second factors of people, at most one for each person. Each change is atomic and durable. */
export interface SecondFactors {
  /** False: the person has a second factor. */
  add(factor: SecondFactorRecord): Promise<boolean>;
  /**
   * Keeps a second factor and raises the person's generation, both or neither. Resolves to the new generation.
   * Undefined: the person's second factor is not `replaces`, or the generation was raised since; nothing changes. One
   * of several calls at once succeeds.
   */
  setUp(setUp: SecondFactorSetUp): Promise<number | undefined>;
  get(accountId: string): Promise<SecondFactorRecord | undefined>;
  /** Yields all second factors in slices. */
  list(): AsyncIterable<readonly SecondFactorRecord[]>;
  /** Uses up a time step of the set-up `id` with all earlier ones (RFC 6238 section 5.2). False: it was used up. */
  useStep(accountId: string, id: string, step: number, at: number): Promise<boolean>;
  /** Uses up a recovery code by its MAC, once. Resolves to the number of remaining codes; undefined: no such code. */
  useRecovery(accountId: string, mac: string, at: number): Promise<number | undefined>;
  /** Replaces the recovery codes, once. False: the set-up or the codes are not those of `seen`. */
  renewRecovery(seen: SecondFactorRecord, macs: readonly string[]): Promise<boolean>;
  /** Removes the set-up `id`, or without an id any set-up. False: no such set-up. */
  remove(accountId: string, id?: string): Promise<boolean>;
}
