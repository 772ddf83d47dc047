import type { Clock } from '#shared/base/clock.ts';
import { writePosition } from '../../revocation/feed-position.ts';
import {
  checkLengths,
  type Invalidation,
  type Invalidations,
  MOST_INVALIDATION_OCTETS,
  MOST_INVALIDATIONS,
} from '../../cache/invalidations.ts';
import type { Database } from '../file/file.ts';
import { SqliteInvalidationFeed } from './invalidation-feed.ts';

type Row = readonly [
  seq: number,
  space: string,
  kind: Invalidation['kind'],
  value: string,
  soft: number,
  at: number,
  epoch: string | null,
];

/** `path`: that of the file, of which a feed has a connection of its own. */
export function sqliteInvalidations(file: Database, path: string, clock: Clock): Invalidations {
  return {
    async add(invalidations) {
      checkLengths(invalidations);
      if (invalidations.length === 0) return;
      await file.write((connection) => {
        const now = Math.floor(clock.now());
        let [[written] = [0]] = connection.all<[number]>(
          'SELECT written FROM invalidation ORDER BY seq DESC LIMIT 1',
        );
        for (const { space, kind, value, soft } of invalidations) {
          written += Buffer.byteLength(value);
          connection.run(
            'INSERT INTO invalidation (space, kind, value, soft, at, written) VALUES (?, ?, ?, ?, ?, ?)',
            space,
            kind,
            value,
            Number(soft),
            now,
            written,
          );
        }
        connection.run(
          `DELETE FROM invalidation
           WHERE seq <= (SELECT max(seq) FROM invalidation) - ${MOST_INVALIDATIONS}`,
        );
        // The oldest ones: each row says more than the one before.
        connection.run(
          `DELETE FROM invalidation
           WHERE seq < (SELECT seq FROM invalidation WHERE written > ? ORDER BY seq LIMIT 1)`,
          written - MOST_INVALIDATION_OCTETS,
        );
      });
    },

    async list(kind, most) {
      const rows = await file.read((connection) =>
        connection.all<Row>(
          `SELECT seq, space, kind, value, soft, at, (SELECT id FROM epoch) FROM invalidation
           WHERE kind = ? ORDER BY seq DESC LIMIT ?`,
          kind,
          most,
        ),
      );
      return rows.map(([seq, space, , value, soft, at, epoch]) => ({
        space,
        kind,
        value,
        soft: soft !== 0,
        at,
        position: writePosition({ epoch: epoch ?? '', entry: String(seq) }),
      }));
    },

    feed: (listener, from) => SqliteInvalidationFeed.open(path, clock, listener, from),
  };
}
