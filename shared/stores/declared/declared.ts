/** Something that `countersign apply` has made: a person by id, a client by client_id, an API key by id, a public key by its fingerprint. */
export interface DeclaredThing {
  readonly kind: 'person' | 'client' | 'api-key' | 'public-key';
  readonly id: string;
}

/** The things that `countersign apply` has made, and may take away again. */
export interface Declared {
  /** Notes it; twice is once. */
  add(thing: DeclaredThing): Promise<void>;
  /** Returns all, by kind and id. */
  list(): Promise<readonly DeclaredThing[]>;
  /** Forgets it; what is not noted stays so. */
  remove(thing: DeclaredThing): Promise<void>;
}
