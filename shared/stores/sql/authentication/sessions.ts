import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Sessions } from '../../authentication/sessions.ts';
import type { Database } from '../sql.ts';

type Row = readonly [value: string];

const valueOf = ([row]: readonly Row[]): unknown => row && JSON.parse(row[0]);

export function sqlSessions(database: Database, clock: Clock, random: Random): Sessions {
  return {
    put: (value, seconds, id = randomId(random)) =>
      database.write(async (sql) => {
        await sql.last.run(
          `INSERT INTO session (id, value, expires) VALUES (?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
          id,
          JSON.stringify(value),
          Math.ceil(clock.now() + seconds * 1000),
        );
        return id;
      }),
    get: (id) =>
      database.read(async (sql) =>
        valueOf(
          await sql.all<Row>(
            'SELECT value FROM session WHERE id = ? AND expires > ?',
            id,
            Math.floor(clock.now()),
          ),
        ),
      ),
    take: (id) =>
      database.write(async (sql) =>
        valueOf(
          await sql.last.all<Row>(
            'DELETE FROM session WHERE id = ? AND expires > ? RETURNING value',
            id,
            Math.floor(clock.now()),
          ),
        ),
      ),
  };
}
