import type { Clock } from '#shared/base/clock.ts';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '../../revocation/revocations.ts';
import { tellOfGrants } from '../logout/logouts.ts';
import { first, insertNew } from '../rows.ts';
import { type Database, MAKES_ROOM } from '../sql.ts';
import { appendRevocation, generationOf, raiseIn } from './generations.ts';

/** A revocation is written even on a nearly full disk. `feed`: opens a feed. `untilKnown`: waits for all feeds. */
export function sqlRevocations(
  database: Database,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  { feed, untilKnown }: Pick<Revocations, 'feed' | 'untilKnown'>,
): Revocations {
  const recall = database.recalling<number>();
  const epoch = () =>
    database.read(async (sql) => (await first<[id: string]>(sql, 'SELECT id FROM epoch'))?.[0]);

  return {
    revoke: (kind, id, until) =>
      database.write(async (sql) => {
        if (kind === 'grant') await tellOfGrants(sql, [id], clock.now());
        await appendRevocation(sql, kind, id, null, until);
      }, MAKES_ROOM),
    raise: (kind, id, until) =>
      database.write((sql) => raiseIn(sql, kind, id, { until, now: clock.now() }), MAKES_ROOM),
    generation: (kind, id) => recall(`${kind} ${id}`, (sql) => generationOf(sql, kind, id)),
    epoch: async (create) => {
      const known = await epoch();
      if (known !== undefined || !create) return known;
      await database.write((sql) => insertNew(sql.last, 'epoch', { one: 1, id: randomId(random) }));
      return epoch();
    },
    feed,
    untilKnown,
  };
}
