import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Kept } from '../../trees/kept.ts';
import { digestOf } from '../digest.ts';
import type { Database } from '../sql.ts';

export function sqlKept(database: Database, clock: Clock, random: Random): Kept {
  const ownerOf = (owner: string) => digestOf('kept', owner);
  return {
    put: (owner, value, { seconds, most }) =>
      database.write(async (sql) => {
        await sql.lockNames([`kept ${owner}`]);
        const id = randomId(random);
        const now = Math.floor(clock.now());
        await sql.run(
          'INSERT INTO kept (id, owner, value, expires) VALUES (?, ?, ?, ?)',
          id,
          ownerOf(owner),
          value,
          Math.ceil(now + seconds * 1000),
        );
        await sql.run(
          `DELETE FROM kept WHERE owner = ?1 AND place NOT IN (
             SELECT place FROM kept WHERE owner = ?1 AND expires > ?2 ORDER BY place DESC LIMIT ?3
           )`,
          ownerOf(owner),
          now,
          most,
        );
        return id;
      }),
    get: (owner, id) =>
      database.read(async (sql) => {
        const [row] = await sql.all<[value: string]>(
          'SELECT value FROM kept WHERE id = ? AND owner = ? AND expires > ?',
          id,
          ownerOf(owner),
          Math.floor(clock.now()),
        );
        return row?.[0];
      }),
  };
}
