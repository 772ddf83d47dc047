import { createHash } from 'node:crypto';
import { DIGEST_ALGORITHMS, type DigestHash } from '#shared/http/auth/digest-algorithms.ts';
import type { VerifierKind } from '#shared/people/verifier-kind.ts';
import type { SchemeVerifier } from '../parts/scheme-entry.ts';
import type { DigestSettings } from './settings.ts';

const kindOf = (hash: DigestHash): VerifierKind => {
  const { crypto, hexLength } = DIGEST_ALGORITHMS[hash];
  const value = new RegExp(`^[0-9a-f]{${hexLength}}$`);
  /** The hash H of RFC 7616 section 3.4.3, in lower-case hexadecimal. */
  const h = (...parts: readonly string[]) =>
    createHash(crypto).update(parts.join(':')).digest('hex');
  return {
    kind: `digest ${hash}`,
    title: `Digest ${hash}`,
    keeps: `HA1 of ${hash}`,
    everywhere: false,
    derive: async ({ name, realm, password }) => h(name, realm, password),
    isValue: (text) => value.test(text),
    // The userhash (section 3.4.4).
    handle: (name, realm) => h(name, realm),
  };
};

/**
 * H(name:realm:password) for each hash (RFC 7616 section 3.4.2). In its realm this value is as sensitive as the
 * password.
 */
export const DIGEST_KINDS: Readonly<Record<DigestHash, VerifierKind>> = {
  MD5: kindOf('MD5'),
  'SHA-256': kindOf('SHA-256'),
  'SHA-512-256': kindOf('SHA-512-256'),
};

export const digestVerifier = {
  kinds: Object.values(DIGEST_KINDS),
  /** An algorithm uses the same verifier with and without `-sess`. */
  neededBy: ({ digest }: { readonly digest: Pick<DigestSettings, 'algorithms'> }) =>
    digest.algorithms.map((algorithm) => DIGEST_KINDS[DIGEST_ALGORITHMS[algorithm].hash]),
} satisfies SchemeVerifier;
