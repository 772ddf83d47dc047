import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { ScramHash } from '#shared/stores/people.ts';
import type { Person } from './directory.ts';

export interface DigestVerifier {
  readonly person: Person;
  /** H(name:realm:password), in lower-case hexadecimal (RFC 7616 section 3.4.2). */
  readonly ha1: string;
}

/** RFC 5802 section 3. */
export interface ScramVerifier {
  readonly person: Person;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/**
 * What the schemes that never see a password ask of a directory. Undefined: there is no such person, or
 * they may not sign in, or what the scheme needs is not kept of them; who asks treats all three
 * like a wrong password. All reject with `StoreUnavailable` when they cannot be answered.
 */
export interface Verifiers {
  /** `username` exactly as it stands in A1. */
  digest(realm: string, hash: DigestHash, username: string): Promise<DigestVerifier | undefined>;
  /** `userhash`: H(name:realm) in lower-case hexadecimal (RFC 7616 section 3.4.4). */
  digestByUserhash(
    realm: string,
    hash: DigestHash,
    userhash: string,
  ): Promise<DigestVerifier | undefined>;
  /** `username` in any form of it. The keys are good in every realm. */
  scram(hash: ScramHash, username: string): Promise<ScramVerifier | undefined>;
  /** `principal`: a name in Kerberos with its realm, as in `alice@EXAMPLE.COM`. */
  kerberos(principal: string): Promise<Person | undefined>;
}
