import type { Random } from '#shared/base/random.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';

/** The name and password from which verifiers are derived. */
export interface Secret {
  /** The name, exactly as it is stored. */
  readonly name: string;
  readonly realm: string;
  /** The password after OpaqueString (RFC 8265 section 4.2). */
  readonly password: string;
}

/** A kind of verifier that a scheme derives from each password. Only the scheme can read the values. */
export interface KeptKind {
  /** The name in the store: a word for the scheme and a word for the variant, as in `digest SHA-256`. */
  readonly kind: string;
  /** The scheme and its variant, for people to read: `Digest SHA-256`. */
  readonly title: string;
  /** The name of the verifier for people: `HA1 of SHA-256`. */
  readonly keeps: string;
  /** True if a verifier is valid in all realms, since it does not depend on the realm. */
  readonly everywhere: boolean;
  /** True if the text is a value as `derive` makes it. */
  isValue(text: string): boolean;
  /**
   * Returns the value that a client may send instead of the name, if the scheme has one. It differs for each name.
   */
  handle?(name: string, realm: string): string;
}

/** A kind of verifier, as a space or the proxy needs it. */
export interface VerifierKind extends KeptKind {
  /** An additional name of a realm, without spaces, if the scheme has one (RFC 8120 section 5). */
  readonly scope?: string;
  /** Returns the value that is stored; undefined for a password that the scheme cannot use. */
  derive(secret: Secret, random: Random): Promise<string | undefined>;
}

/** The verifiers that a realm needs of each person so that its schemes can authenticate them. */
export interface RealmNeeds {
  readonly realm: string;
  readonly kinds: readonly VerifierKind[];
}

/** Returns the realm of the row in which a verifier is stored. */
export function keptRealm(
  { everywhere, scope }: Pick<VerifierKind, 'everywhere' | 'scope'>,
  realm: string,
): string {
  if (everywhere) return ALL_REALMS;
  return scope === undefined ? realm : `${scope} ${realm}`;
}
