import type { NameRange } from '#shared/base/name-range.ts';

/**
 * A row with which a scheme lets a person in without storing their password. There is one for each kind and realm, and
 * only the scheme writes and reads it.
 */
export interface VerifierRow {
  /** The scheme, and how the row was made: `digest SHA-256`. */
  readonly kind: string;
  /** `ALL_REALMS`: good in each. */
  readonly realm: string;
  /** May be as good as the password in its realm. */
  readonly value: string;
  /** The value that a client may send instead of the name. It belongs to one person within its kind and realm. */
  readonly handle?: string;
}

/** The realm of what says nothing of one. */
export const ALL_REALMS = '';

/** The claims that applications may be told about a person, each by its scope (OpenID Connect Core 1.0 section 5.1). */
export interface Profile {
  /** In words: claim `name`. */
  readonly display_name?: string;
  /** The first is the primary one; `verified`: somebody has made sure that it is theirs. */
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  readonly groups?: readonly string[];
  /** Language tag (RFC 5646). */
  readonly locale?: string;
  /** URL. */
  readonly picture?: string;
}

/** A person of the built-in directory. However many realms there are, the record stays as short. */
export interface PersonRecord {
  /** `sub` of their tokens: random, never given to anybody else. */
  readonly id: string;
  /** The name with which they sign in, normalised; unique. */
  readonly name: string;
  /** argon2id in the PHC string format. Absent: no password lets them in. */
  readonly password_hash?: string;
  /** Names the kinds and realms that there are verifiers for, alike for all who have the same. */
  readonly verifier_set?: string;
  /** Names in Kerberos, with their realms: `alice@EXAMPLE.COM`. */
  readonly kerberos?: readonly string[];
  readonly profile?: Profile;
  /** Other names by which the person is found; each belongs to one person only. Computed from the other members. */
  readonly aliases?: readonly string[];
  /** Keys by which a search finds the person; several people may have the same. Computed: addresses, looks of the name. */
  readonly search_keys?: readonly string[];
  readonly disabled?: boolean;
  /** They may administer this server. */
  readonly admin?: boolean;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
  /** Counts the changes; 0 when added. */
  readonly version: number;
}

/** A person with all that is kept of them. */
export interface WholePerson {
  readonly person: PersonRecord;
  readonly verifiers: readonly VerifierRow[];
}

/** A person and the value of one of their verifiers. */
export interface VerifiedPerson {
  readonly person: PersonRecord;
  readonly value: string;
}

/** How a client says who it is. */
export type VerifierName = Pick<PersonRecord, 'name'> | Required<Pick<VerifierRow, 'handle'>>;

/** Whether somebody may get a name that somebody else had until they were removed. */
export type FormerName = 'refused' | 'reused';

/** A passkey that comes with a new person (`PasskeyRecord`). */
export interface NewPasskey {
  readonly id: string;
  readonly accountId: string;
  readonly created_at: number;
}

/** Claims that are made with a new person, or not at all. */
export interface WithPerson {
  /**
   * A search key that no other person may have by then, nor, if it is that of a name's looks, have had until they were
   * removed.
   */
  readonly unshared?: string;
  /** A passkey that is added for the person; no other person may have its id. */
  readonly passkey?: NewPasskey;
}

/** A part of the people that has an index. */
export type PeopleList =
  | { readonly group: string }
  | { readonly state: 'active' | 'disabled' | 'admin' };

/** A part of the people, or of a list of them, by name. */
export interface PeopleRange extends NameRange {
  readonly list?: PeopleList | undefined;
}

export interface People {
  /**
   * False when the name, the id, an alias or the handle of a verifier is taken, somebody has the search key or the passkey of
   * `together`, or had that key until they were removed, or, unless `former` is `reused`, the name was that of somebody who was removed. Atomic.
   */
  add(
    person: PersonRecord,
    verifiers?: readonly VerifierRow[],
    former?: FormerName,
    together?: WithPerson,
  ): Promise<boolean>;
  get(id: string): Promise<PersonRecord | undefined>;
  getByName(name: string): Promise<PersonRecord | undefined>;
  getByAlias(alias: string): Promise<PersonRecord | undefined>;
  /** Everybody with a search key, in no order; of very many some. */
  search(key: string): Promise<readonly PersonRecord[]>;
  /** Undefined when there is no such person or nothing is kept of them; reads no other row. */
  getVerifier(kind: string, realm: string, who: VerifierName): Promise<VerifiedPerson | undefined>;
  /** The record and the verifiers as they are at one moment. */
  getWhole(id: string): Promise<WholePerson | undefined>;
  /** People by name; reads these rows and no others. */
  page(range: PeopleRange): Promise<readonly PersonRecord[]>;
  /** Everybody by name, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly PersonRecord[]>;
  /**
   * Replaces the record of `person.id` if its version is `person.version - 1`, and all verifiers by
   * `verifiers`, where they are given; false when there is none, it was changed since or somebody else has
   * one of its aliases or handles. Atomic; `name` stays.
   */
  replace(person: PersonRecord, verifiers?: readonly VerifierRow[]): Promise<boolean>;
  /**
   * Removes the person with aliases and verifiers, if the version is still that of `person`; else false. Hashes
   * of the name and of its looks stay, so that they are known to have been taken before. Atomic.
   */
  remove(person: Pick<PersonRecord, 'id' | 'version'>): Promise<boolean>;
  /**
   * Whether the name was that of somebody who was removed, and is nobody's now; for the search key of looks, whether somebody
   * who was removed had it.
   */
  isFormerName(name: string): Promise<boolean>;
}
