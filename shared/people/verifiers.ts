import type { VerifierName } from '#shared/stores/people/people.ts';
import type { Person } from './directory.ts';

/** Somebody, and what is kept of them for a scheme, which alone can read it. */
export interface Verifier {
  readonly person: Person;
  readonly value: string;
}

/**
 * What the schemes that never see a password ask of a directory. Undefined: there is no such person, or
 * they may not sign in, or what the scheme needs is not kept of them; who asks treats all three
 * like a wrong password. Both reject with `StoreUnavailable` when they cannot be answered.
 */
export interface Verifiers {
  /** `realm`: `ALL_REALMS` for a kind that is good in each; `who`: a name exactly as it is kept, or a handle. */
  find(kind: string, realm: string, who: VerifierName): Promise<Verifier | undefined>;
  /** `principal`: a name in Kerberos with its realm, as in `alice@EXAMPLE.COM`. */
  kerberos(principal: string): Promise<Person | undefined>;
}
