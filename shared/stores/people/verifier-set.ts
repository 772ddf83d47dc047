import { createHash } from 'node:crypto';
import type { VerifierRow } from './people.ts';

/** A name for the kinds and realms of these rows: the same for the same ones, in any order. */
export function verifierSet(rows: readonly Pick<VerifierRow, 'kind' | 'realm'>[]): string {
  const members = rows.map(({ kind, realm }) => JSON.stringify([kind, realm])).toSorted();
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 22);
}
