import type { Quota } from '../../trees/trees.ts';
import { objects } from '../rows.ts';
import type { Sql, Transaction } from '../sql.ts';
import { type Found, type Spot, upwards } from './places.ts';

/** The amounts that a resource with all its members adds to its tree. */
export interface Sums extends Quota {
  /** Octets of the longest relative path of a member, or more: removals do not reduce it. */
  readonly longest: number;
}

export const NOTHING: Sums = { bytes: 0, properties: 0, entries: 0, longest: 0 };

/** Returns the sums of a resource without its members. */
export function ownSums({ entry, bytes }: Pick<Found, 'entry' | 'bytes'>): Sums {
  const length = entry.kind === 'document' ? entry.length : 0;
  return { bytes, properties: bytes - length, entries: entry.path === '' ? 0 : 1, longest: 0 };
}

export async function sumsOf(sql: Sql, found: Found): Promise<Sums> {
  const own = ownSums(found);
  if (found.entry.kind === 'document') return own;
  const columns = 'bytes, properties, entries, longest';
  const rest = 'FROM collection WHERE id = ?';
  const [below = NOTHING] = await objects<Sums>(sql, columns, rest, found.place.id);
  return plus(own, below);
}

/** Adds both amounts, without the longest path. */
export const plus = <More extends Quota>(room: Quota, more: More): More => ({
  ...more,
  bytes: room.bytes + more.bytes,
  properties: room.properties + more.properties,
  entries: room.entries + more.entries,
});

/** Returns the first amounts less the second. */
export const minus = (next: Quota, { bytes, properties, entries }: Quota): Sums => ({
  ...plus(next, { bytes: -bytes, properties: -properties, entries: -entries }),
  longest: 0,
});

/** Adds sums to the collection `above` and its ancestors. `size`: bytes of the name of the added resource. */
export async function addSums(
  sql: Transaction,
  above: Spot,
  size: number,
  sums: Sums,
): Promise<void> {
  const { bytes, properties, entries } = sums;
  if (bytes === 0 && properties === 0 && entries === 0) return;
  let longest = size + (sums.longest > 0 ? 1 + sums.longest : 0);
  for (const place of upwards(above)) {
    const text = `UPDATE collection
      SET bytes = bytes + ?1, properties = properties + ?2, entries = entries + ?3,
        longest = CASE WHEN longest < ?4 THEN ?4 ELSE longest END
      WHERE id = ?5`;
    await sql.later(text, bytes, properties, entries, longest, place.id);
    longest += 1 + place.size;
  }
}

/** Measures the longest path below a collection, and remembers it. */
export async function measureLongest(
  sql: Transaction,
  tree: string,
  { id }: Spot,
): Promise<number> {
  const text = `WITH RECURSIVE below (of, id, size) AS (
      SELECT name, CAST(?2 AS BIGINT), CAST(-1 AS BIGINT) FROM tree WHERE name = ?1
      UNION ALL
      SELECT of, resource.id, size + 1 + octet_length(name)
      FROM below CROSS JOIN resource ON tree = of AND parent = below.id
    )
    SELECT CASE WHEN max(size) > 0 THEN max(size) ELSE 0 END FROM below`;
  const [[longest] = [0]] = await sql.all<[longest: number]>(text, tree, id);
  await sql.later('UPDATE collection SET longest = ? WHERE id = ?', longest, id);
  return longest;
}
