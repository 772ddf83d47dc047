import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Sessions } from '../../authentication/sessions.ts';
import type { SqliteFile } from '../file/file.ts';

type Row = readonly [value: string];

const valueOf = ([row]: readonly Row[]): unknown => row && JSON.parse(row[0]);

export function sqliteSessions(file: SqliteFile, clock: Clock, random: Random): Sessions {
  return {
    put: (value, seconds, id = randomId(random)) =>
      file.write((connection) => {
        connection.run(
          'INSERT OR REPLACE INTO session (id, value, expires) VALUES (?, ?, ?)',
          id,
          JSON.stringify(value),
          Math.ceil(clock.now() + seconds * 1000),
        );
        return id;
      }),
    get: (id) =>
      file.read((connection) =>
        valueOf(
          connection.all<Row>(
            'SELECT value FROM session WHERE id = ? AND expires > ?',
            id,
            clock.now(),
          ),
        ),
      ),
    take: (id) =>
      file.write((connection) =>
        valueOf(
          connection.all<Row>(
            'DELETE FROM session WHERE id = ? AND expires > ? RETURNING value',
            id,
            clock.now(),
          ),
        ),
      ),
  };
}
