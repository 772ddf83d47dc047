import type { Profile } from '#shared/stores/people/people.ts';

/** Somebody who can sign in. */
export interface Person {
  /** `sub` of their tokens. */
  readonly id: string;
  /** What they sign in with. */
  readonly name: string;
  readonly profile?: Profile;
}

/** Who has shown a right password. */
export interface Authenticated extends Person {
  /** The person's generation (revocations), read before the password was checked. */
  readonly generation: number;
}

/**
 * The people who may sign in. The built-in one is `local.ts`; another (LDAP, another identity provider)
 * implements these two questions. Both reject with `StoreUnavailable` when they cannot be answered.
 */
export interface Directory {
  /** Undefined: there is no such person, or they may not sign in. */
  find(id: string): Promise<Person | undefined>;
  /**
   * Undefined: unknown, wrong password or disabled; which of these cannot be told from what is done or
   * how long it takes.
   */
  authenticate(name: string, password: string): Promise<Authenticated | undefined>;
}
