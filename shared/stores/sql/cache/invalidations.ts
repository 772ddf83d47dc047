import type { Clock } from '#shared/base/clock.ts';
import {
  checkLengths,
  type Invalidation,
  type Invalidations,
  MOST_INVALIDATION_OCTETS,
  MOST_INVALIDATIONS,
} from '../../cache/invalidations.ts';
import { writePosition } from '../../revocation/feed-position.ts';
import { insert } from '../rows.ts';
import type { Database } from '../sql.ts';

type Row = readonly [
  seq: number,
  space: string,
  kind: Invalidation['kind'],
  value: string,
  soft: number,
  at: number,
  epoch: string | null,
];

/** `feed`: opens a feed of the table. */
export function sqlInvalidations(
  database: Database,
  clock: Clock,
  feed: Invalidations['feed'],
): Invalidations {
  return {
    async add(invalidations) {
      checkLengths(invalidations);
      if (invalidations.length === 0) return;
      await database.write(async (sql) => {
        await sql.lockNames(['invalidations']);
        const now = Math.floor(clock.now());
        let [[written] = [0]] = await sql.all<[number]>(
          'SELECT coalesce(max(written), 0) FROM invalidation',
        );
        for (const { space, kind, value, soft } of invalidations) {
          written += Buffer.byteLength(value);
          const row = { space, kind, value, soft: Number(soft), at: now, written };
          await insert(sql, 'invalidation', row);
        }
        await sql.run(
          `DELETE FROM invalidation
           WHERE seq <= (SELECT max(seq) FROM invalidation) - ${MOST_INVALIDATIONS}`,
        );
        // Deletes the oldest rows: a newer row covers the older ones.
        const text = `DELETE FROM invalidation
          WHERE seq < (SELECT seq FROM invalidation WHERE written > ? ORDER BY seq LIMIT 1)`;
        await sql.run(text, written - MOST_INVALIDATION_OCTETS);
      });
    },

    async list(kind, most) {
      const text = `SELECT seq, space, kind, value, soft, at, (SELECT id FROM epoch) FROM invalidation
        WHERE kind = ? AND seq IS NOT NULL ORDER BY seq DESC LIMIT ?`;
      const rows = await database.read((sql) => sql.all<Row>(text, kind, most));
      return rows.map(([seq, space, , value, soft, at, epoch]) => ({
        space,
        kind,
        value,
        soft: soft !== 0,
        at,
        position: writePosition({ epoch: epoch ?? '', entry: seq }),
      }));
    },

    feed,
  };
}
