import type { Logout, Logouts } from '../../logout/logouts.ts';
import type { Moments } from '../moments.ts';
import { change, changes } from '../rows.ts';
import type { Database, Transaction } from '../sql.ts';

type Row = readonly [
  id: string,
  clientId: string,
  accountId: string | null,
  uid: string | null,
  attempts: number,
  created: number,
];

const COLUMNS = 'id, client_id, account_id, uid, attempts, created';

/** In SQL: the grants that are to be told to their applications. */
const TOLD = `FROM artefact WHERE kind = 'Access' AND uid IS NOT NULL`;

/** In SQL: the id of a logout that a grant leaves, and its `uid`. */
interface Left {
  readonly id: string;
  readonly uid?: 'uid' | 'NULL';
}

/**
 * Writes logouts for each grant with `where`, which has the value `?1`, before the grants end in the same transaction.
 */
async function tell(
  sql: Transaction,
  left: readonly Left[],
  [where, value]: readonly [where: string, value: string],
  now: number,
): Promise<void> {
  for (const { id, uid = 'uid' } of left) {
    await sql.later(
      `INSERT INTO logout (id, client_id, account_id, uid, due, attempts, created)
       SELECT DISTINCT ${id}, client_id, account_id, ${uid}, 0, 0, CAST(?2 AS BIGINT) ${TOLD} AND ${where}
       ON CONFLICT (id) DO NOTHING`,
      value,
      Math.floor(now),
    );
  }
  await sql.later(
    `UPDATE artefact SET uid = NULL WHERE kind = 'Access' AND uid IS NOT NULL AND ${where}`,
    value,
  );
}

/** Writes the logouts of grants that end. */
export const tellOfGrants = (
  sql: Transaction,
  grants: readonly string[],
  now: number,
): Promise<void> =>
  tell(sql, [{ id: `'grant ' || id` }], ['grant_id IN EACH(?1)', JSON.stringify(grants)], now);

/** Writes the logouts of grants that outlive sign-ins which end. */
export const tellOfSignIns = (
  sql: Transaction,
  uids: readonly string[],
  now: number,
): Promise<void> =>
  tell(
    sql,
    [{ id: `'sign-in ' || uid || ' ' || client_id` }],
    ['uid IN EACH(?1)', JSON.stringify(uids)],
    now,
  );

/**
 * Writes the logouts of a person or a client whose generation is raised. For a person: one for each application, and one
 * for each of its browsers, since applications exist that find a session only by `sid`. For a client: one for all
 * people, whose grants may be very many. `removeByGrant` then writes one for each of them.
 */
export async function tellOfRaise(
  sql: Transaction,
  kind: string,
  id: string,
  generation: number,
  now: number,
): Promise<void> {
  if (kind === 'person') {
    const row = `'person ${generation} ' || account_id || ' ' || client_id`;
    const left: readonly Left[] = [{ id: row, uid: 'NULL' }, { id: `${row} || ' ' || uid` }];
    await tell(sql, left, ['account_id = ?1', id], now);
  } else {
    // The second condition on `kind` is that of the index by client.
    await sql.later(
      `INSERT INTO logout (id, client_id, due, attempts, created)
       SELECT 'client ${generation} ' || ?1, ?1, 0, 0, CAST(?2 AS BIGINT)
       WHERE EXISTS (SELECT 1 ${TOLD} AND kind IN ('Access', 'Consent') AND client_id = ?1)
       ON CONFLICT (id) DO NOTHING`,
      id,
      Math.floor(now),
    );
  }
}

/**
 * Writes one row for a client whose rules of use have changed, if the client has grants. The id sorts before the ids of
 * grants and people, so the row does not wait behind theirs if the application fails.
 */
export async function tellOfRules(sql: Transaction, clientId: string, now: number): Promise<void> {
  // The second condition on `kind` is that of the index by client.
  await sql.later(
    `INSERT INTO logout (id, client_id, due, attempts, created)
     SELECT 'client rules ' || CAST(?2 AS BIGINT) || ' ' || ?1, ?1, 0, 0, CAST(?2 AS BIGINT)
     WHERE EXISTS (SELECT 1 FROM artefact
       WHERE kind = 'Access' AND kind IN ('Access', 'Consent') AND client_id = ?1)
     ON CONFLICT (id) DO NOTHING`,
    clientId,
    Math.floor(now),
  );
}

export function sqlLogouts(database: Database, { toShared }: Moments): Logouts {
  const logoutOf = ([id, clientId, accountId, uid]: Row): Logout => ({
    id,
    clientId,
    ...(accountId !== null && { accountId }),
    ...(uid !== null && { uid }),
  });

  return {
    due: (now) =>
      database.read(async (sql) => {
        // Each step finds the next client by the index, however many logouts of the client wait.
        const text = `WITH RECURSIVE client_of (id) AS (
            SELECT min(client_id) FROM logout
            UNION ALL
            SELECT (SELECT min(client_id) FROM logout WHERE client_id > client_of.id)
            FROM client_of WHERE client_of.id IS NOT NULL)
          SELECT id FROM client_of
          WHERE EXISTS (SELECT 1 FROM logout WHERE client_id = client_of.id AND due <= ?)`;
        return (await sql.all<[id: string]>(text, toShared(now))).map(([id]) => id);
      }),

    endedBefore: (time, count) =>
      database.read(async (sql) => {
        const text = `SELECT ${COLUMNS} FROM logout WHERE created < ? ORDER BY created LIMIT ?`;
        return (await sql.all<Row>(text, time, count)).map(logoutOf);
      }),

    take: (clientId, callers, until, count) =>
      database.write(async (sql) => {
        const now = toShared(callers);
        const text = `SELECT ${COLUMNS} FROM logout WHERE client_id = ? AND due <= ?
          ORDER BY due, id LIMIT ?`;
        const taken = [];
        for (const row of await sql.lock<Row>(text, clientId, now, count)) {
          const [id, , , , attempts, created] = row;
          const update = 'UPDATE logout SET due = ?, attempts = attempts + 1 WHERE id = ?';
          await sql.run(update, toShared(until), id);
          taken.push({ ...logoutOf(row), attempt: attempts + 1, created });
        }
        return taken;
      }),

    postpone: (id, at) =>
      change(database, 'UPDATE logout SET due = ? WHERE id = ?', toShared(at), id),

    remove: (id) => changes(database, 'DELETE FROM logout WHERE id = ?', id),

    backlog: () =>
      database.read(async (sql) => {
        // The condition makes both read the index by time, of which at most 10,000 rows are counted.
        const text = `SELECT
          (SELECT count(*) FROM (SELECT 1 FROM logout WHERE created > 0 LIMIT 10000) AS waiting),
          (SELECT min(created) FROM logout WHERE created > 0)`;
        const [[count, oldest] = [0, null]] =
          await sql.all<[count: number, oldest: number | null]>(text);
        return { count, ...(oldest !== null && { oldest }) };
      }),

    waiting: (accountId) =>
      database.read(async (sql) => {
        const text =
          'SELECT DISTINCT client_id FROM logout WHERE account_id = ? ORDER BY client_id';
        return (await sql.all<[clientId: string]>(text, accountId)).map(([id]) => id);
      }),
  };
}
