/** A key that an application shows instead of the credentials of a person. */
export interface ApiKeyRecord {
  /** Stands in the key; not secret. */
  readonly id: string;
  /** The application that the key identifies. Several keys of one application may be alive at a time. */
  readonly application: string;
  /** The realm that it is good for, and no other. */
  readonly realm: string;
  /** base64url(SHA-256(secret)); the secret itself is shown once and never stored. */
  readonly secret_hash: string;
  readonly scopes: readonly string[];
  readonly created_at: number;
  /** Milliseconds since the epoch. */
  readonly expires_at?: number;
  /** The time of the last use, to a minute. */
  readonly used_at?: number;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
}

/** Where a key stands among all: those of one application side by side, then by age. */
export type ApiKeyPlace = Pick<ApiKeyRecord, 'application' | 'created_at' | 'id'>;

/** A part of that order. */
export interface ApiKeyRange {
  /** Keys at most. */
  readonly limit: number;
  /** Keys behind this one, which need not be there any more. */
  readonly after?: ApiKeyPlace | undefined;
}

export interface ApiKeys {
  /** False when the id is taken. */
  add(key: ApiKeyRecord): Promise<boolean>;
  get(id: string): Promise<ApiKeyRecord | undefined>;
  /** Keys by application (in the order of its octets), age and id; reads these rows and no others. */
  page(range: ApiKeyRange): Promise<readonly ApiKeyRecord[]>;
  /** Returns all keys: those of one application side by side, then by age. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** Replaces a key, perhaps by one of another application; false when it is not as it was any more. */
  replace(key: ApiKeyRecord, was: ApiKeyRecord): Promise<boolean>;
  /** Ends a key at a time (milliseconds since the epoch), unless it ends before; false when there is none. */
  expire(id: string, at: number): Promise<boolean>;
  /** Notes a use; never brings a removed key back or moves `used_at` backwards. */
  touch(id: string, at: number): Promise<void>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
}
