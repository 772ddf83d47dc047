import type { Acr } from '#shared/jose/acr.ts';

/** The owner of a key: a person of the directory by `id`, or an application by its name. */
export interface KeyOwner {
  readonly kind: 'person' | 'application';
  readonly id: string;
}

/** The public half of a key whose private half lets its owner in, without a password. */
export interface PublicKeyRecord {
  /**
   * base64url(SHA-256(DER of SubjectPublicKeyInfo)), its fingerprint; unique, whatever the key is for. The `kid` of
   * HOBA (RFC 7486 section 9.4, kidtype 0) and the key ID of Concealed (RFC 9729 section 4.1).
   */
  readonly id: string;
  /** The one scheme that takes it: no key is used in two protocols (RFC 9729 section 8). */
  readonly scheme: 'Concealed' | 'HOBA';
  readonly owner: KeyOwner;
  /** base64url of the DER of SubjectPublicKeyInfo. */
  readonly spki: string;
  /** For people: the device, or what it is for. */
  readonly name: string;
  /** The only origin where it is good (HOBA); absent: every one. */
  readonly origin?: string;
  /** How its person had signed in when it was added; absent: an application has it. */
  readonly acr?: Acr;
  /** Milliseconds since the epoch, as all times here. */
  readonly created_at: number;
  /** The time of the last use, to a minute. */
  readonly used_at?: number;
  /** Challenges made before are void (RFC 7486 section 6.3). */
  readonly signed_out_at?: number;
}

/** A part of the keys of applications. */
export interface ApplicationKeyRange {
  /** Keys at most. */
  readonly limit: number;
  /** Keys behind this one, which need not be there any more. */
  readonly after?: Pick<PublicKeyRecord, 'owner' | 'created_at' | 'id'> | undefined;
}

export interface PublicKeys {
  /** `taken`: the id is there, for whomever. `full`: the owner has `most` already, of all schemes. Atomic. */
  add(key: PublicKeyRecord, most: number): Promise<'added' | 'taken' | 'full'>;
  get(id: string): Promise<PublicKeyRecord | undefined>;
  /** Returns the keys of one owner, by age. */
  of(owner: KeyOwner): Promise<readonly PublicKeyRecord[]>;
  /** Keys of applications, by owner, age and id; reads these rows and no others. */
  pageOfApplications(range: ApplicationKeyRange): Promise<readonly PublicKeyRecord[]>;
  /** All, by owner and age, in slices that are each read when asked for. */
  list(): AsyncIterable<readonly PublicKeyRecord[]>;
  /** Notes a use; never brings a removed key back or moves `used_at` backwards. */
  touch(id: string, at: number): Promise<void>;
  /** Sets `signed_out_at`, never backwards; false when there is no such key. */
  signOut(id: string, at: number): Promise<boolean>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
}
