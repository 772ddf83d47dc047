import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '../../revocation/revocations.ts';
import type { Database } from '../sql.ts';
import { appendRevocation, generationOf, raiseIn } from './generations.ts';

/** `feed`: opens one that follows the table. `untilKnown`: rows that are committed may still be told. */
export function sqlRevocations(
  database: Database,
  random: Random,
  { feed, untilKnown }: Pick<Revocations, 'feed' | 'untilKnown'>,
): Revocations {
  const recall = database.recalling<number>();
  const epoch = () =>
    database.read(async (sql) => {
      const [row] = await sql.all<[id: string]>('SELECT id FROM epoch');
      return row?.[0];
    });

  return {
    revoke: (kind, id, until) =>
      database.write((sql) => appendRevocation(sql, kind, id, null, until)),
    raise: (kind, id, until) => database.write((sql) => raiseIn(sql, kind, id, until)),
    generation: (kind, id) => recall(`${kind} ${id}`, (sql) => generationOf(sql, kind, id)),
    epoch: async (create) => {
      const known = await epoch();
      if (known !== undefined || !create) return known;
      await database.write((sql) =>
        sql.last.run(
          'INSERT INTO epoch (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING',
          randomId(random),
        ),
      );
      return epoch();
    },
    feed,
    untilKnown,
  };
}
