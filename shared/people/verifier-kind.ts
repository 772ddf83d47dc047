import type { Random } from '#shared/base/random.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';

/** The secret that verifiers are derived from. */
export interface Secret {
  /** Exactly as it is kept. */
  readonly name: string;
  readonly realm: string;
  /** After OpaqueString (RFC 8265 section 4.2). */
  readonly password: string;
}

/** A verifier that a scheme derives from each password. Only the scheme knows what the values mean. */
export interface KeptKind {
  /** Names it in the store, by a word for the scheme and one for the variant: `digest SHA-256`. */
  readonly kind: string;
  /** The scheme and its variant, for people to read: `Digest SHA-256`. */
  readonly title: string;
  /** The name of the verifier for people: `HA1 of SHA-256`. */
  readonly keeps: string;
  /** Whether one is good in all realms, since it says nothing of one. */
  readonly everywhere: boolean;
  /** Whether this is a value as `derive` makes it. */
  isValue(text: string): boolean;
  /** Returns the value that a client may send instead of the name, if there is one. No two names have the same. */
  handle?(name: string, realm: string): string;
}

/** The same, as somewhere needs it. */
export interface VerifierKind extends KeptKind {
  /** The further name of a realm, without spaces, if the scheme has one (RFC 8120 section 5). */
  readonly scope?: string;
  /** The value that is kept; undefined for a password that the scheme cannot take. */
  derive(secret: Secret, random: Random): Promise<string | undefined>;
}

/** The verifiers that a realm needs of each person, so that its schemes can let them in. */
export interface RealmNeeds {
  readonly realm: string;
  readonly kinds: readonly VerifierKind[];
}

/** The realm of the row that one is kept in. */
export function keptRealm(
  { everywhere, scope }: Pick<VerifierKind, 'everywhere' | 'scope'>,
  realm: string,
): string {
  if (everywhere) return ALL_REALMS;
  return scope === undefined ? realm : `${scope} ${realm}`;
}
