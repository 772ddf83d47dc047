import type { Turn } from '#shared/base/line.ts';
import type { Profile } from '#shared/stores/people/people.ts';

/** A person who can sign in. */
export interface Person {
  /** The `sub` of the person's tokens. */
  readonly id: string;
  /** The name with which the person signs in. */
  readonly name: string;
  readonly profile?: Profile;
  /** When the profile last changed, in milliseconds since the epoch. */
  readonly changedAt?: number;
}

/** A person who has given the right password. */
export interface Authenticated extends Person {
  /** The person's generation (revocations), read before the password was checked. */
  readonly generation: number;
  /** The mark of that password (`password-mark.ts`), if this directory stores passwords here. */
  readonly passwordMark?: string;
}

/**
 * The questions about people who may sign in, which `local.ts` answers from the store. Both reject with
 * `StoreUnavailable` if the store does not answer.
 */
export interface Directory {
  /** Finds a person. Resolves to undefined if the person does not exist or may not sign in. */
  find(id: string): Promise<Person | undefined>;
  /**
   * Checks a password. Resolves to undefined if the person is unknown or disabled, or the password is wrong; neither
   * its work nor its duration reveals which. `turn`: the queue for work that has to wait.
   */
  authenticate(name: string, password: string, turn: Turn): Promise<Authenticated | undefined>;
}
