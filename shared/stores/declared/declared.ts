/** A thing that `countersign apply` has made: by id, by client_id, or by the fingerprint of a public key. */
export interface DeclaredThing {
  readonly kind: 'person' | 'client' | 'api-key' | 'public-key';
  readonly id: string;
}

/** The things that `countersign apply` has made, and may remove. */
export interface Declared {
  /** Notes a thing, once. */
  add(thing: DeclaredThing): Promise<void>;
  /** Returns all things, by kind and id. */
  list(): Promise<readonly DeclaredThing[]>;
  remove(thing: DeclaredThing): Promise<void>;
}
