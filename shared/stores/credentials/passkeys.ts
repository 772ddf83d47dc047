/** Most passkeys of one person. */
export const MOST_PASSKEYS = 20;

/** Longest credential ID, in octets (WebAuthn section 4). */
export const LONGEST_PASSKEY_ID = 1_023;

/** The public half of a passkey: a key of WebAuthn whose private half lets its person in, without a name or a password. */
export interface PasskeyRecord {
  /** The credential ID in base64url (WebAuthn section 4), at most 1,023 octets; unique. */
  readonly id: string;
  readonly accountId: string;
  /** The public key as COSE_Key (RFC 9052 section 7), in base64url. */
  readonly publicKey: string;
  /** The host that it is good for (RP ID). */
  readonly rpId: string;
  /** The signature counter (WebAuthn section 6.1.1). 0: the authenticator has none, as those that copy keys. */
  readonly counter: number;
  /** Whether it may be kept in more than one place, which never changes (WebAuthn section 6.1.3). */
  readonly backupEligible: boolean;
  /** Whether it is kept in more than one place. */
  readonly backedUp: boolean;
  /** The name that the person gave it. */
  readonly name: string;
  /** Milliseconds since the epoch, as all times here. */
  readonly created_at: number;
  readonly used_at?: number;
  /** The last time that a signature was refused since its counter was not above the last one: there may be a copy. */
  readonly refused_at?: number;
}

/** A use of a passkey that its signature has proved. */
export interface PasskeyUse {
  readonly counter: number;
  readonly backedUp: boolean;
  readonly at: number;
}

/** The passkeys of people. Each change is atomic and durable. */
export interface Passkeys {
  /** `taken`: a passkey with this id exists, of any person. `full`: the person already has `most` passkeys. */
  add(passkey: PasskeyRecord, most: number): Promise<'added' | 'taken' | 'full'>;
  get(id: string): Promise<PasskeyRecord | undefined>;
  /** Returns those of one person, by age. */
  of(accountId: string): Promise<readonly PasskeyRecord[]>;
  /** All, by person and age, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly PasskeyRecord[]>;
  /**
   * Notes a use. `refused`: its counter is not above the last one, and one of both is not 0; then `refused_at` is set. Of two
   * uses with the same counter one is refused. `gone`: there is no such passkey; a use brings none back.
   */
  use(id: string, use: PasskeyUse): Promise<'used' | 'refused' | 'gone'>;
  /** False when the person has no such passkey. */
  rename(accountId: string, id: string, name: string): Promise<boolean>;
  /**
   * Removes a passkey of a person. `last`: fewer than `least` would be left, and nothing was done; of two removals at once
   * that would together leave fewer, one is refused. `gone`: the person has no such passkey.
   */
  remove(accountId: string, id: string, least: number): Promise<'removed' | 'last' | 'gone'>;
  /** Removes all of a person who was removed. */
  removeAll(accountId: string): Promise<void>;
}
