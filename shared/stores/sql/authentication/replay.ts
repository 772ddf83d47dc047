import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '../../authentication/replay.ts';
import { digestOf } from '../digest.ts';
import { changes, first } from '../rows.ts';
import type { Database } from '../sql.ts';

export function sqlReplay(database: Database, clock: Clock): Replay {
  const now = () => Math.floor(clock.now());
  return {
    unique: async (namespace, key, seconds) =>
      changes(
        database,
        `INSERT INTO replay (key, expires) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET expires = ?2 WHERE replay.expires <= ?3`,
        digestOf(namespace, key),
        Math.ceil(clock.now() + seconds * 1000),
        now(),
      ),
    seen: (namespace, key) =>
      database.read(async (sql) => {
        const text = 'SELECT 1 FROM replay WHERE key = ? AND expires > ?';
        return (await first(sql, text, digestOf(namespace, key), now())) !== undefined;
      }),
  };
}
