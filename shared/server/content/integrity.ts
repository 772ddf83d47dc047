import { createHash } from 'node:crypto';
import { type DigestAlgorithm, HASHES } from '#shared/gnap/content-digest.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { parseDictionary } from '#shared/http/structured-fields.ts';
import type { AnyRequest } from '../message/message.ts';

/** The integrity fields (RFC 9530). In a request without Content-Range both are about the octets of the content. */
const FIELDS = ['Content-Digest', 'Repr-Digest'] as const;
const ALGORITHMS = Object.keys(HASHES) as readonly DigestAlgorithm[];

interface Claim {
  readonly field: string;
  readonly algorithm: DigestAlgorithm;
  readonly digest: Buffer;
}

/**
 * Yields the content of a request as it arrives. At its end it throws `BadRequest` if the content does not match an
 * integrity field in the header section. A malformed integrity field gives `BadRequest`, too. Algorithms other than
 * SHA-256 and SHA-512 are ignored, as RFC 9530 sections 2 and 3 allow.
 */
export function intact(
  { headers }: Pick<AnyRequest, 'headers'>,
  content: AsyncIterable<Buffer>,
): AsyncIterable<Buffer> {
  const claims = FIELDS.flatMap((field) => {
    const value = headers[field.toLowerCase()];
    return value === undefined ? [] : claimsOf(field, String(value));
  });
  return claims.length === 0 ? content : checked(content, claims);
}

function claimsOf(field: string, value: string): readonly Claim[] {
  const digests = parseDictionary(value);
  const malformed = () =>
    new BadRequest(`Write ${field} as in \`sha-256=:...:\`, with the digest in base64.`);
  if (digests === undefined) throw malformed();
  return ALGORITHMS.flatMap((algorithm) => {
    const claimed = digests.get(algorithm);
    if (claimed === undefined) return [];
    if (claimed.type !== 'bytes') throw malformed();
    return [{ field, algorithm, digest: claimed.value }];
  });
}

async function* checked(
  content: AsyncIterable<Buffer>,
  claims: readonly Claim[],
): AsyncGenerator<Buffer> {
  const checks = claims.map((claim) => ({ ...claim, hash: createHash(HASHES[claim.algorithm]) }));
  for await (const piece of content) {
    for (const { hash } of checks) hash.update(piece);
    yield piece;
  }
  for (const { field, algorithm, digest, hash } of checks) {
    if (hash.digest().equals(digest)) continue;
    throw new BadRequest(`${field} has the ${algorithm} of another content. Send it again.`);
  }
}
