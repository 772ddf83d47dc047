import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Kept } from '../../trees/kept.ts';
import { digestOf } from '../file/digest.ts';
import type { SqliteFile } from '../file/file.ts';

export function sqliteKept(file: SqliteFile, clock: Clock, random: Random): Kept {
  const ownerOf = (owner: string) => digestOf('kept', owner);
  return {
    put: (owner, value, { seconds, most }) =>
      file.write((connection) => {
        const id = randomId(random);
        const now = clock.now();
        connection.run(
          'INSERT INTO kept (id, owner, value, expires) VALUES (?, ?, ?, ?)',
          id,
          ownerOf(owner),
          value,
          Math.ceil(now + seconds * 1000),
        );
        connection.run(
          `DELETE FROM kept WHERE owner = ?1 AND rowid NOT IN (
             SELECT rowid FROM kept WHERE owner = ?1 AND expires > ?2 ORDER BY rowid DESC LIMIT ?3
           )`,
          ownerOf(owner),
          now,
          most,
        );
        return id;
      }),
    get: (owner, id) =>
      file.read(
        (connection) =>
          connection.all<[value: string]>(
            'SELECT value FROM kept WHERE id = ? AND owner = ? AND expires > ?',
            id,
            ownerOf(owner),
            clock.now(),
          )[0]?.[0],
      ),
  };
}
