import type { NameRange } from '#shared/base/name-range.ts';

/** A row by which a scheme authenticates a person without the password: one for each kind and realm. */
export interface VerifierRow {
  /** The scheme and the method: `digest SHA-256`. */
  readonly kind: string;
  /** The realm, or `ALL_REALMS`. */
  readonly realm: string;
  /** A secret: an attacker may be able to use it like the password in its realm. */
  readonly value: string;
  /** A value that a client may send instead of the name. It belongs to one person within its kind and realm. */
  readonly handle?: string;
}

/** The realm of a verifier that is valid in all realms. */
export const ALL_REALMS = '';

/** The claims about a person that applications may get, by scope (OpenID Connect Core 1.0 section 5.1). */
export interface Profile {
  /** The claim `name`. */
  readonly display_name?: string;
  /** The first address is the primary one. `verified`: the person has proved that the address is theirs. */
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  readonly groups?: readonly string[];
  /** Language tag (RFC 5646). */
  readonly locale?: string;
  /** URL. */
  readonly picture?: string;
  /** Further facts: claims of the same names (shared/people/claims.ts), and what rules of clients tell. */
  readonly attributes?: readonly Attribute[];
}

/** Each name occurs once. */
export interface Attribute {
  readonly name: string;
  readonly value: string;
}

/** An account of a person at a source (the setting `sources`). One person has it. */
export interface Identity {
  /** The name of the source. */
  readonly source: string;
  /** The identifier that the source gives to the account, and never to another one. 1 to 255 printable ASCII characters. */
  readonly subject: string;
}

/** A part of the profile that a source may own. */
export type Managed = 'display_name' | 'emails' | 'groups';

/** The account with which a person came here for the first time. */
export interface Origin extends Identity {
  /** The parts of the profile that only the source changes. */
  readonly managed: readonly Managed[];
}

/** An account that a person has linked, as a further way to sign in. */
export interface LinkedIdentity extends Identity {
  readonly created_at: number;
}

/** A person of the built-in directory. The length of the record does not depend on the number of realms. */
export interface PersonRecord {
  /** `sub` of the person's tokens: random, never reused. */
  readonly id: string;
  /** The normalised, unique name for sign-in. */
  readonly name: string;
  /** argon2id in the PHC string format. Absent: the person has no password. */
  readonly password_hash?: string;
  /** Names the kinds and realms of the verifiers. People with the same ones have the same value. */
  readonly verifier_set?: string;
  /** Names in Kerberos, with their realms: `alice@EXAMPLE.COM`. */
  readonly kerberos?: readonly string[];
  readonly profile?: Profile;
  /** When the profile last changed, in milliseconds since the epoch. Absent: never since `created_at`. */
  readonly profile_changed_at?: number;
  /** Present if a source brought the person. If the source leaves the configuration, the person may not sign in. */
  readonly origin?: Origin;
  /** At most one of each source. */
  readonly linked?: readonly LinkedIdentity[];
  /** Other names of the person, each of one person only. Computed from the other members. */
  readonly aliases?: readonly string[];
  /** Search keys of the person, which other people may have, too. Computed from addresses, looks of the name, words of the display name. */
  readonly search_keys?: readonly string[];
  readonly disabled?: boolean;
  /** The person may administer this server. */
  readonly admin?: boolean;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
  /** The number of changes since the person was added. */
  readonly version: number;
}

/** A person with all stored data. */
export interface WholePerson {
  readonly person: PersonRecord;
  readonly verifiers: readonly VerifierRow[];
}

/** A person and the value of one of their verifiers. */
export interface VerifiedPerson {
  readonly person: PersonRecord;
  readonly value: string;
}

/** How a client names a person. */
export type VerifierName = Pick<PersonRecord, 'name'> | Required<Pick<VerifierRow, 'handle'>>;

/** Whether a new person may get the name of a removed person. */
export type FormerName = 'refused' | 'reused';

/** A passkey that is added with a new person (`PasskeyRecord`). */
export interface NewPasskey {
  readonly id: string;
  readonly accountId: string;
  readonly created_at: number;
}

/** Conditions and data that are added with a new person, all or nothing. */
export interface WithPerson {
  /** A search key that no other person may have, and of a name's looks no removed person either. */
  readonly unshared?: string;
  /** A passkey to add. No other person may have its id. */
  readonly passkey?: NewPasskey;
}

/** An indexed part of the people. */
export type PeopleList =
  | { readonly group: string }
  | { readonly state: 'active' | 'disabled' | 'admin' };

/** A page of all people, or of a list of them, by name. */
export interface PeopleRange extends NameRange {
  readonly list?: PeopleList | undefined;
}

export interface People {
  /**
   * False: the name, the id, an alias or the handle of a verifier is taken; another person has, or a removed person
   * had, the search key of `together`; the passkey of `together` exists; or a removed person had the name, unless
   * `former` is `reused`. Atomic.
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
  /** Returns people with a search key, in no order, at most 250. */
  search(key: string): Promise<readonly PersonRecord[]>;
  /** Returns people with a search key that begins with `start`, in no order, at most 250. */
  searchBeginning(start: string): Promise<readonly PersonRecord[]>;
  /** Undefined: no such person, or no such verifier. Reads no other row. */
  getVerifier(kind: string, realm: string, who: VerifierName): Promise<VerifiedPerson | undefined>;
  /** Returns the record and the verifiers of one moment. */
  getWhole(id: string): Promise<WholePerson | undefined>;
  /** Returns people by name. Reads only these rows. */
  page(range: PeopleRange): Promise<readonly PersonRecord[]>;
  /** Yields all people in slices, by name. */
  list(): AsyncIterable<readonly PersonRecord[]>;
  /**
   * Replaces the record of `person.id` if its version is `person.version - 1`, and all verifiers if `verifiers` is
   * given; `name` stays. False: no such person, a change since, or another person has an alias or handle. Atomic.
   * Within a transaction, an administrator who is disabled or loses the right waits for all others in the same case, so
   * that the transaction can read afterwards which administrators stay.
   */
  replace(person: PersonRecord, verifiers?: readonly VerifierRow[]): Promise<boolean>;
  /**
   * Removes a person with aliases and verifiers. False: no such person, or the version is another. Hashes of the name
   * and of its looks stay, so that the name is known to be used. Atomic.
   */
  remove(person: Pick<PersonRecord, 'id' | 'version'>): Promise<boolean>;
  /** Whether a removed person had the name or the search key of looks, and no person has the name now. */
  isFormerName(name: string): Promise<boolean>;
}
