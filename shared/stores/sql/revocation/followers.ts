import { revocationOf, type RevocationRow, rowsBehind } from '../../revocation/followed.ts';
import type { FollowedProcess, Followers } from '../../revocation/followers.ts';
import { change, objects, put } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql } from '../sql.ts';

const OF_STORE =
  'SELECT (SELECT id FROM epoch), (SELECT epoch FROM settled), LAST(revocation, seq)';

type OfStore = [epoch: string | null, settled: string | null, last: number];
/** This row is written again and again, also on a full disk: a follower without news answers 503 to every request. */
const ONE_ROW = MAKES_ROOM;

const ENTRIES = rowsBehind('revocation', '?');
type EntryRow = [seq: number, ...RevocationRow];

/** Reads the epoch, the epoch whose earlier followers are known to be gone, and the last number ever given. */
async function ofStore(sql: Sql) {
  const [[epoch, settled, last] = [null, null, 0]] = await sql.all<OfStore>(OF_STORE);
  return { epoch: epoch ?? undefined, settled: settled ?? undefined, last };
}

export function sqlFollowers(database: Database): Followers {
  return {
    look: () =>
      database.snapshot(async (sql) => {
        const [{ epoch, settled, last }, processes] = await Promise.all([
          ofStore(sql),
          objects<FollowedProcess>(sql.last, 'id, confirmed, lease, beat', 'FROM followed'),
        ]);
        return { epoch, last, settled: settled === (epoch ?? ''), processes };
      }),

    put: ({ id, confirmed, lease, beat }, epoch) =>
      database.write(async (sql) => {
        if ((await ofStore(sql)).epoch !== epoch) return false;
        await put(sql.last, 'followed', 'id', { id, confirmed, lease, beat });
        return true;
      }, ONE_ROW),

    remove: ({ id, beat }) =>
      change(database, 'DELETE FROM followed WHERE id = ? AND beat = ?', id, beat),

    settle: async (epoch) =>
      void (await database.write(
        (sql) => put(sql.last, 'settled', 'one', { one: 1, epoch: epoch ?? '' }),
        ONE_ROW,
      )),

    page: (after, count) =>
      database.snapshot(async (sql) => {
        const { epoch, last } = await ofStore(sql);
        const isKnown = after !== undefined && after.epoch === epoch && after.entry <= last;
        const from = isKnown ? after.entry : 0;
        const rows = await sql.last.all<EntryRow>(ENTRIES, from, count);
        const complete = rows.length < count;
        const end = rows.at(-1)?.[0] ?? 0;
        return {
          epoch,
          last: complete ? Math.max(end, last) : end,
          complete,
          entries: rows.map(([, ...row]) => Object.assign(revocationOf(row), { until: row[0] })),
        };
      }),
  };
}
