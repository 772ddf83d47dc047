import { sameBytes } from '#shared/base/constant-time.ts';
import { parseUniqueDictionary } from '#shared/http/structured-fields.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/signatures.ts';

/** The algorithms of RFC 9530 section 5 that are safe against an attacker who looks for collisions. */
export type DigestAlgorithm = 'sha-256' | 'sha-512';

/** The names of the hashes in `node:crypto`. */
export const HASHES: Readonly<Record<DigestAlgorithm, string>> = {
  'sha-256': 'sha256',
  'sha-512': 'sha512',
};

/**
 * Returns the reason for which the lines of Content-Digest (RFC 9530 section 2) do not prove the content, or
 * undefined if they do. The field must have the digest by `algorithm`; other digests in it are ignored. `actual`: the
 * digest of the octets as received, before any content coding is undone.
 */
export function digestRefusal(
  lines: readonly string[],
  algorithm: DigestAlgorithm,
  actual: Uint8Array,
): Refusal | undefined {
  const digests = parseUniqueDictionary(lines.join(', '));
  if (digests === undefined) return refuse('content-digest-form');
  const claimed = digests.get(algorithm);
  if (claimed?.type !== 'bytes') return refuse('content-digest-none', { algorithm });
  return sameBytes(claimed.value, actual) ? undefined : refuse('content-digest-wrong');
}
