import type { VerifierName } from '#shared/stores/people/people.ts';
import type { Person } from './directory.ts';

/** Somebody, and what is kept of them for a scheme, which alone can read it. */
export interface Verifier {
  readonly person: Person;
  readonly value: string;
}

/**
 * The questions to a directory of schemes that never see a password. Undefined means that there is no such person, or
 * that they may not sign in, or that they lack the verifier; the caller treats all three like a wrong password. Both
 * questions reject with `StoreUnavailable` if they cannot be answered.
 */
export interface Verifiers {
  /** `realm`: `ALL_REALMS` for a kind that is good in each; `who`: a name exactly as it is kept, or a handle. */
  find(kind: string, realm: string, who: VerifierName): Promise<Verifier | undefined>;
  /** `principal`: a name in Kerberos with its realm, as in `alice@EXAMPLE.COM`. */
  kerberos(principal: string): Promise<Person | undefined>;
}
