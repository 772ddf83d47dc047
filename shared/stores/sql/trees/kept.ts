import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Kept } from '../../trees/kept.ts';
import { digestOf } from '../digest.ts';
import { first, insert } from '../rows.ts';
import type { Database } from '../sql.ts';

export function sqlKept(database: Database, clock: Clock, random: Random): Kept {
  const ownerOf = (owner: string) => digestOf('kept', owner);
  return {
    put: (owner, value, { seconds, most }) =>
      database.write(async (sql) => {
        await sql.lockNames([`kept ${owner}`]);
        const id = randomId(random);
        const now = Math.floor(clock.now());
        const expires = Math.ceil(now + seconds * 1000);
        await insert(sql, 'kept', { id, owner: ownerOf(owner), value, expires });
        const text = `DELETE FROM kept WHERE owner = ?1 AND place NOT IN (
            SELECT place FROM kept WHERE owner = ?1 AND expires > ?2 ORDER BY place DESC LIMIT ?3
          )`;
        await sql.run(text, ownerOf(owner), now, most);
        return id;
      }),
    get: (owner, id) =>
      database.read(async (sql) => {
        const text = 'SELECT value FROM kept WHERE id = ? AND owner = ? AND expires > ?';
        const now = Math.floor(clock.now());
        return (await first<[value: string]>(sql, text, id, ownerOf(owner), now))?.[0];
      }),
  };
}
