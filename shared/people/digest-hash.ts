import { createHash } from 'node:crypto';
import { DIGEST_ALGORITHMS } from '#shared/http/auth/digest-algorithms.ts';
import type { DigestHash } from '#shared/http/auth/digest-algorithms.ts';

/** H(data) in lower-case hexadecimal (RFC 7616 section 3.4.3), `data` in UTF-8. */
export function digestHash(hash: DigestHash, data: string): string {
  return createHash(DIGEST_ALGORITHMS[hash].crypto).update(data).digest('hex');
}

/** H(name:realm), which a client may send in place of the name (RFC 7616 section 3.4.4). */
export const userhashOf = (hash: DigestHash, name: string, realm: string): string =>
  digestHash(hash, `${name}:${realm}`);
