import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '../../authentication/replay.ts';
import { digestOf } from '../digest.ts';
import type { Database } from '../sql.ts';

export function sqlReplay(database: Database, clock: Clock): Replay {
  return {
    unique: (namespace, key, seconds) =>
      database.write(async (sql) => {
        const now = Math.floor(clock.now());
        const inserted = await sql.last.run(
          `INSERT INTO replay (key, expires) VALUES (?1, ?2)
           ON CONFLICT (key) DO UPDATE SET expires = ?2 WHERE replay.expires <= ?3`,
          digestOf(namespace, key),
          Math.ceil(clock.now() + seconds * 1000),
          now,
        );
        return inserted === 1;
      }),
    seen: (namespace, key) =>
      database.read(async (sql) => {
        const found = await sql.all(
          'SELECT 1 FROM replay WHERE key = ? AND expires > ?',
          digestOf(namespace, key),
          Math.floor(clock.now()),
        );
        return found.length > 0;
      }),
  };
}
