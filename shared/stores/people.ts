/** The hashes of Digest (RFC 7616 section 6.1); with `-sess` or without, the same is kept. */
export type DigestHash = 'MD5' | 'SHA-256' | 'SHA-512-256';
export type ScramHash = 'SHA-1' | 'SHA-256';

/** What a realm keeps of a password, and no more than its schemes need. */
export interface RealmVerifiers {
  /** H(name:realm:password) in hexadecimal (RFC 7616 section 3.4.2): as good as the password in its realm. */
  readonly digest?: Readonly<Partial<Record<DigestHash, string>>>;
  readonly scram?: Readonly<Partial<Record<ScramHash, ScramKeys>>>;
}

/** RFC 5802 section 3; all but `iterations` in base64. */
export interface ScramKeys {
  readonly salt: string;
  readonly iterations: number;
  readonly stored_key: string;
  readonly server_key: string;
}

/** A person of the built-in directory. */
export interface PersonRecord {
  /** `sub` of their tokens: random, never given to anybody else. */
  readonly id: string;
  /** What they sign in with, normalised; unique. */
  readonly name: string;
  /** argon2id in the PHC string format. */
  readonly password_hash: string;
  /** By realm. */
  readonly verifiers?: Readonly<Record<string, RealmVerifiers>>;
  /** Names in Kerberos, with their realms: `alice@EXAMPLE.COM`. */
  readonly kerberos?: readonly string[];
  /** What else they are found by; each belongs to one person. Derived from the other members. */
  readonly aliases?: readonly string[];
  readonly disabled?: boolean;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
  /** Counts the changes; 0 when added. */
  readonly version: number;
}

export interface People {
  /** False when the name, the id or an alias is taken. */
  add(person: PersonRecord): Promise<boolean>;
  get(id: string): Promise<PersonRecord | undefined>;
  getByName(name: string): Promise<PersonRecord | undefined>;
  getByAlias(alias: string): Promise<PersonRecord | undefined>;
  list(): Promise<readonly PersonRecord[]>;
  /**
   * Replaces the record of `person.id` if its version is `person.version - 1`; false when there is none,
   * it was changed since or somebody else has one of its aliases. Atomic; `name` stays.
   */
  replace(person: PersonRecord): Promise<boolean>;
}
