/** A person of the built-in directory. */
export interface PersonRecord {
  /** `sub` of their tokens: random, never given to anybody else. */
  readonly id: string;
  /** What they sign in with, normalised; unique. */
  readonly name: string;
  /** argon2id in the PHC string format. */
  readonly password_hash: string;
  readonly disabled?: boolean;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
  /** Counts the changes; 0 when added. */
  readonly version: number;
}

export interface People {
  /** False when the name or the id is taken. */
  add(person: PersonRecord): Promise<boolean>;
  get(id: string): Promise<PersonRecord | undefined>;
  getByName(name: string): Promise<PersonRecord | undefined>;
  list(): Promise<readonly PersonRecord[]>;
  /**
   * Replaces the record of `person.id` if its version is `person.version - 1`; false when there is none
   * or it was changed since. Atomic; `name` stays.
   */
  replace(person: PersonRecord): Promise<boolean>;
}
