/** A key by which an application authenticates, without the credentials of a person. */
export interface ApiKeyRecord {
  /** A part of the key; not secret. */
  readonly id: string;
  /** The application that the key identifies. An application may have several valid keys. */
  readonly application: string;
  /** The only realm in which the key is valid. */
  readonly realm: string;
  /** base64url(SHA-256(secret)); the secret itself is shown once and never stored. */
  readonly secret_hash: string;
  readonly scopes: readonly string[];
  readonly created_at: number;
  /** Milliseconds since the epoch. */
  readonly expires_at?: number;
  /** When a key that was ended early would have ended otherwise. Without `at` it would never have ended. */
  readonly planned?: { readonly at?: number };
  /** The time of the last use, to a minute. */
  readonly used_at?: number;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
}

/** The position of a key in the order of all keys: by application, then by age. */
export type ApiKeyPlace = Pick<ApiKeyRecord, 'application' | 'created_at' | 'id'>;

/** A page of the keys. */
export interface ApiKeyRange {
  readonly limit: number;
  /** The key before the page; it may have been removed. */
  readonly after?: ApiKeyPlace | undefined;
}

export interface ApiKeys {
  /** False: the id exists. */
  add(key: ApiKeyRecord): Promise<boolean>;
  get(id: string): Promise<ApiKeyRecord | undefined>;
  /** Returns keys by application (in the order of its octets), age and id. Reads only these rows. */
  page(range: ApiKeyRange): Promise<readonly ApiKeyRecord[]>;
  /** Returns all keys by application and age. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /** Replaces a key, perhaps by a key of another application. False: the stored key is not `was`. */
  replace(key: ApiKeyRecord, was: ApiKeyRecord): Promise<boolean>;
  /** Ends a key at a time (milliseconds since the epoch), unless it ends earlier. Keeps the `planned` end. False: no such key. */
  expire(id: string, at: number): Promise<boolean>;
  /** Notes a use. Never restores a removed key, nor moves `used_at` backwards. */
  touch(id: string, at: number): Promise<void>;
  /** False: no such key. */
  remove(id: string): Promise<boolean>;
}
