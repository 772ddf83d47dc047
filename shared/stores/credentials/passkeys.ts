/** Most passkeys of one person. */
export const MOST_PASSKEYS = 20;

/** Longest credential ID, in octets (WebAuthn section 4). */
export const LONGEST_PASSKEY_ID = 1_023;

/** The public half of a passkey (WebAuthn). Its person signs in by the private half, without a name or a password. */
export interface PasskeyRecord {
  /** The unique credential ID in base64url (WebAuthn section 4). */
  readonly id: string;
  readonly accountId: string;
  /** The public key as COSE_Key (RFC 9052 section 7), in base64url. */
  readonly publicKey: string;
  /** The only host for which the passkey is valid (RP ID). */
  readonly rpId: string;
  /** The signature counter (WebAuthn section 6.1.1). 0: the authenticator has no counter. */
  readonly counter: number;
  /** Whether the passkey may be copied to other devices, which never changes (WebAuthn section 6.1.3). */
  readonly backupEligible: boolean;
  /** Whether the passkey was copied to other devices. */
  readonly backedUp: boolean;
  readonly name: string;
  /** Milliseconds since the epoch, like all times in this file. */
  readonly created_at: number;
  readonly used_at?: number;
  /** The last time that a signature was refused because its counter was too low: a copy may exist. */
  readonly refused_at?: number;
}

/** A use of a passkey after its signature was verified. */
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
  /** Returns the passkeys of a person, by age. */
  of(accountId: string): Promise<readonly PasskeyRecord[]>;
  /** Yields all passkeys in slices, by person and age. */
  list(): AsyncIterable<readonly PasskeyRecord[]>;
  /**
   * Notes a use. `refused`: the counter is not above the last one, though one is not 0; sets `refused_at`. `gone`: no
   * such passkey.
   */
  use(id: string, use: PasskeyUse): Promise<'used' | 'refused' | 'gone'>;
  /** False: the person has no such passkey. */
  rename(accountId: string, id: string, name: string): Promise<boolean>;
  /** Removes a passkey of a person. `last`: fewer than `least` would remain. `gone`: no such passkey. */
  remove(accountId: string, id: string, least: number): Promise<'removed' | 'last' | 'gone'>;
  /** Removes all passkeys of a removed person. */
  removeAll(accountId: string): Promise<void>;
}
