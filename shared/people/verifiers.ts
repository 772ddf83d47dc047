import type { VerifierName } from '#shared/stores/people/people.ts';
import type { Person } from './directory.ts';

/** A person, and a value that only a scheme can read. */
export interface Verifier {
  readonly person: Person;
  readonly value: string;
}

/**
 * The look-ups for schemes that never receive a password. They resolve to undefined if the person does not exist, may
 * not sign in, or lacks the verifier; the caller treats all three like a wrong password. Both reject with
 * `StoreUnavailable` if they cannot be answered.
 */
export interface Verifiers {
  /**
   * `realm`: `ALL_REALMS` for a kind that is valid in each realm. `who`: a name exactly as it is stored, or a handle.
   */
  find(kind: string, realm: string, who: VerifierName): Promise<Verifier | undefined>;
  /** `principal`: a Kerberos name with its realm, as in `alice@EXAMPLE.COM`. */
  kerberos(principal: string): Promise<Person | undefined>;
}
