import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '../../authentication/replay.ts';
import { digestOf } from '../file/digest.ts';
import type { SqliteFile } from '../file/file.ts';

export function sqliteReplay(file: SqliteFile, clock: Clock): Replay {
  return {
    unique: (namespace, key, seconds) =>
      file.write((connection) => {
        const now = clock.now();
        const inserted = connection.run(
          `INSERT INTO replay (key, expires) VALUES (?1, ?2)
           ON CONFLICT (key) DO UPDATE SET expires = ?2 WHERE expires <= ?3`,
          digestOf(namespace, key),
          Math.ceil(now + seconds * 1000),
          now,
        );
        return inserted === 1;
      }),
    seen: (namespace, key) =>
      file.read((connection) => {
        const found = connection.all(
          'SELECT 1 FROM replay WHERE key = ? AND expires > ?',
          digestOf(namespace, key),
          clock.now(),
        );
        return found.length > 0;
      }),
  };
}
