import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Sessions } from '../../authentication/sessions.ts';
import { first, put } from '../rows.ts';
import type { Database, Sql } from '../sql.ts';

export function sqlSessions(database: Database, clock: Clock, random: Random): Sessions {
  async function value(sql: Sql, text: string, id: string): Promise<unknown> {
    const row = await first<[value: string]>(sql, text, id, Math.floor(clock.now()));
    return row && JSON.parse(row[0]);
  }
  return {
    put: (kept, seconds, id = randomId(random)) =>
      database.write(async (sql) => {
        const expires = Math.ceil(clock.now() + seconds * 1000);
        await put(sql.last, 'session', 'id', { id, value: JSON.stringify(kept), expires });
        return id;
      }),
    get: (id) =>
      database.read((sql) =>
        value(sql, 'SELECT value FROM session WHERE id = ? AND expires > ?', id),
      ),
    take: (id) =>
      database.write((sql) =>
        value(sql.last, 'DELETE FROM session WHERE id = ? AND expires > ? RETURNING value', id),
      ),
  };
}
