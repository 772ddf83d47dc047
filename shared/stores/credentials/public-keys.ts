import type { Acr } from '#shared/jose/acr.ts';

/** The owner of a key: a person of the directory by `id`, or an application by its name. */
export interface KeyOwner {
  readonly kind: 'person' | 'application';
  readonly id: string;
}

/** The public half of a key. Its owner authenticates by the private half, without a password. */
export interface PublicKeyRecord {
  /**
   * The unique fingerprint: base64url(SHA-256(DER of SubjectPublicKeyInfo)); in HOBA the `kid`, in Concealed the key
   * ID.
   */
  readonly id: string;
  /** The only scheme that accepts the key: no key is used in two protocols (RFC 9729 section 8). */
  readonly scheme: 'Concealed' | 'HOBA';
  readonly owner: KeyOwner;
  /** base64url of the DER of SubjectPublicKeyInfo. */
  readonly spki: string;
  /** For people: the device or the purpose of the key. */
  readonly name: string;
  /** The only origin for which the key is valid (HOBA); absent: all origins. */
  readonly origin?: string;
  /** How the person had signed in when they added the key; absent: the key of an application. */
  readonly acr?: Acr;
  /** Milliseconds since the epoch, like all times in this file. */
  readonly created_at: number;
  /** The time of the last use, to a minute. */
  readonly used_at?: number;
  /** Challenges from before this time are void (RFC 7486 section 6.3). */
  readonly signed_out_at?: number;
}

/** A page of the keys of applications. */
export interface ApplicationKeyRange {
  readonly limit: number;
  /** The key before the page; it may have been removed. */
  readonly after?: Pick<PublicKeyRecord, 'owner' | 'created_at' | 'id'> | undefined;
}

export interface PublicKeys {
  /** `taken`: the id exists, of any owner. `full`: the owner has `most` keys in all schemes. Atomic. */
  add(key: PublicKeyRecord, most: number): Promise<'added' | 'taken' | 'full'>;
  get(id: string): Promise<PublicKeyRecord | undefined>;
  /** Returns the keys of one owner, by age. */
  of(owner: KeyOwner): Promise<readonly PublicKeyRecord[]>;
  /** Returns keys of applications by owner, age and id. Reads only these rows. */
  pageOfApplications(range: ApplicationKeyRange): Promise<readonly PublicKeyRecord[]>;
  /** Yields all keys in slices, by owner and age. */
  list(): AsyncIterable<readonly PublicKeyRecord[]>;
  /** Notes a use. Never restores a removed key, nor moves `used_at` backwards. */
  touch(id: string, at: number): Promise<void>;
  /** Sets `signed_out_at`, never backwards. False: no such key. */
  signOut(id: string, at: number): Promise<boolean>;
  /** False: no such key. */
  remove(id: string): Promise<boolean>;
}
