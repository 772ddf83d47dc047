import { hash } from 'node:crypto';
import type { JwsAlgorithm } from './algorithms.ts';

/** Returns the hash of the required members of a JWK in lexicographic order (RFC 7638 section 3). */
export function thumbprint(
  jwk: Readonly<Record<string, unknown>>,
  { members }: Pick<JwsAlgorithm, 'members'>,
): string {
  const required = Object.fromEntries(members.map((name) => [name, jwk[name]]));
  return hash('sha256', JSON.stringify(required), 'base64url');
}
