import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';

export type ScramHash = 'SHA-1' | 'SHA-256';

/** What Digest keeps of a person for one realm and hash, both in hexadecimal: a row of its own. */
export interface DigestRow {
  readonly realm: string;
  readonly hash: DigestHash;
  /** H(name:realm:password) (RFC 7616 section 3.4.2): as good as the password in its realm. */
  readonly ha1: string;
  /** H(name:realm), which a client may send in place of the name (RFC 7616 section 3.4.4). */
  readonly userhash: string;
}

/** RFC 5802 section 3; all but `iterations` in base64. */
export interface ScramKeys {
  readonly salt: string;
  readonly iterations: number;
  readonly stored_key: string;
  readonly server_key: string;
}

/** A person of the built-in directory. However many realms there are, the record stays as short. */
export interface PersonRecord {
  /** `sub` of their tokens: random, never given to anybody else. */
  readonly id: string;
  /** What they sign in with, normalised; unique. */
  readonly name: string;
  /** argon2id in the PHC string format. */
  readonly password_hash: string;
  /** For all realms: the keys say nothing of one (RFC 5802 section 3). */
  readonly scram?: Readonly<Partial<Record<ScramHash, ScramKeys>>>;
  /** Names the realms and hashes that there are rows of Digest for, alike for all who have the same. */
  readonly digest_set?: string;
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

/** A person with all that is kept of them. */
export interface WholePerson {
  readonly person: PersonRecord;
  readonly digests: readonly DigestRow[];
}

/** A person and what one realm keeps of them for one hash. */
export interface DigestPerson {
  readonly person: PersonRecord;
  readonly ha1: string;
}

/** How a client of Digest says who it is. */
export type DigestName = Pick<DigestRow, 'userhash'> | Pick<PersonRecord, 'name'>;

export interface People {
  /** False when the name, the id, an alias or the userhash of a row is taken. */
  add(person: PersonRecord, digests?: readonly DigestRow[]): Promise<boolean>;
  get(id: string): Promise<PersonRecord | undefined>;
  getByName(name: string): Promise<PersonRecord | undefined>;
  getByAlias(alias: string): Promise<PersonRecord | undefined>;
  /** Undefined when there is no such person or nothing is kept of them; reads no other row. */
  getDigest(realm: string, hash: DigestHash, who: DigestName): Promise<DigestPerson | undefined>;
  /** The record and the rows as they are at one moment. */
  getWhole(id: string): Promise<WholePerson | undefined>;
  /** Everybody by name, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly PersonRecord[]>;
  /**
   * Replaces the record of `person.id` if its version is `person.version - 1`, and the rows of Digest by
   * `digests`, where they are given; false when there is none, it was changed since or somebody else has
   * one of its aliases or userhashes. Atomic; `name` stays.
   */
  replace(person: PersonRecord, digests?: readonly DigestRow[]): Promise<boolean>;
}
