import { createHash } from 'node:crypto';
import type { DigestRow } from './people.ts';

/** A name for the realms and hashes of these rows: the same for the same ones, in any order. */
export function digestSet(rows: readonly Pick<DigestRow, 'realm' | 'hash'>[]): string {
  const members = rows.map(({ realm, hash }) => `${hash} ${realm}`).toSorted();
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 22);
}
