import { sameBytes } from '#shared/base/constant-time.ts';
import { parseUniqueDictionary } from '#shared/http/structured-fields.ts';

/** The algorithms of RFC 9530 section 5 that are safe against somebody who wants a collision. */
export type DigestAlgorithm = 'sha-256' | 'sha-512';

/** The names of the hashes in `node:crypto`. */
export const HASHES: Readonly<Record<DigestAlgorithm, string>> = {
  'sha-256': 'sha256',
  'sha-512': 'sha512',
};

/**
 * Returns why the lines of Content-Digest (RFC 9530 section 2) do not prove the content, or undefined if they do. The
 * field must have the digest by `algorithm`; others in it are not looked at. `actual`: the digest of the octets as they
 * were received, before any content coding is undone.
 */
export function digestRefusal(
  lines: readonly string[],
  algorithm: DigestAlgorithm,
  actual: Uint8Array,
): string | undefined {
  const digests = parseUniqueDictionary(lines.join(', '));
  if (digests === undefined) return 'content-digest is malformed or has an algorithm twice';
  const claimed = digests.get(algorithm);
  if (claimed?.type !== 'bytes') return `content-digest has no ${algorithm}`;
  return sameBytes(claimed.value, actual) ? undefined : `content-digest is of another content`;
}
