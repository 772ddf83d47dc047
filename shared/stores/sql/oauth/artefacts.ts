import { setImmediate as turn } from 'node:timers/promises';
import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import {
  KINDS_BY_ACCOUNT,
  NEVER,
  PASSING_KINDS,
  type Artefact,
  type Artefacts,
  type Slice,
  type Use,
} from '../../oauth/artefacts.ts';
import { type Database, MAKES_ROOM, type Transaction } from '../sql.ts';
import { tellOfGrants, tellOfSignIns } from '../logout/logouts.ts';

type Column = 'id' | 'uid' | 'user_code';
type Row = readonly [payload: string, consumed: number | null, attempt: string | null];

const text = (value: unknown) => (typeof value === 'string' ? value : null);

const payloadOf = ([payload, consumed, attempt]: Row): Record<string, unknown> => ({
  ...(JSON.parse(payload) as Record<string, unknown>),
  ...(consumed === null ? {} : { consumed }),
  ...(attempt === null ? {} : { attempt }),
});

/** In SQL, as the indexes of accounts and clients have it: when an artefact expires, or never. */
const END = `coalesce(expires, ${NEVER})`;
/** In SQL: one kind of one account that has not expired; `?1` is now. */
const OF_ACCOUNT = `kind = ?2 AND account_id = ?3 AND ${END} > ?1`;
/** In SQL, as the index of clients has it: one kind of one client that has not expired. */
const OF_CLIENT = `kind IN ('Access', 'Consent') AND kind = ?2 AND client_id = ?3 AND ${END} > ?1`;

/** How many rows of a grant are deleted at a time: each refresh has left one. Other writes get turns in between. */
const BATCH = 500;

/** A slice of all rows: the count exceeds what any account has. */
const EVERY: Slice = { skip: 0, count: NEVER };

export function sqlArtefacts(
  database: Database,
  clock: Clock,
  table: 'artefact' | 'passing_artefact' = 'artefact',
): Artefacts {
  /** In SQL: has not expired; `?1` is now. */
  const live = `(${table}.expires IS NULL OR ${table}.expires > ?1)`;
  const select = (column: Column) =>
    `SELECT payload, consumed, attempt FROM ${table}
     WHERE kind = ?2 AND ${column} = ?3 AND ${live} ORDER BY place DESC LIMIT 1`;

  const find = (column: Column) => (kind: string, value: string) =>
    database.read(async (sql) => {
      const [row] = await sql.all<Row>(select(column), clock.now(), kind, value);
      return row && payloadOf(row);
    });

  const get = find('id');

  /** Writes an artefact at the end of a transaction. `after`: only if this attempt has used the other artefact. */
  async function write(
    sql: Transaction,
    { kind, id, payload, seconds }: Artefact,
    after?: readonly [kind: string, id: string, attempt: string],
  ): Promise<void> {
    const now = clock.now();
    const isUsed = `EXISTS (SELECT 1 FROM ${table} WHERE kind = ?11 AND id = ?12 AND attempt = ?13)`;
    await sql.last.run(
      `INSERT INTO ${table} (kind, id, payload, grant_id, uid, user_code, account_id, client_id, expires)
       SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 WHERE ${after ? isUsed : 'TRUE'}
       ON CONFLICT (kind, id) DO UPDATE SET
         payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
         user_code = excluded.user_code, account_id = excluded.account_id,
         client_id = excluded.client_id, expires = excluded.expires,
         consumed = CASE WHEN ${live} THEN ${table}.consumed END,
         attempt = CASE WHEN ${live} THEN ${table}.attempt END`,
      now,
      kind,
      id,
      JSON.stringify(payload),
      text(payload['grantId']),
      text(payload['uid']),
      text(payload['userCode']),
      KINDS_BY_ACCOUNT.has(kind) ? text(payload['accountId']) : null,
      text(payload['clientId']),
      seconds === undefined ? null : Math.ceil(now + seconds * 1000),
      ...(after ?? []),
    );
  }

  return {
    put: (artefact) => database.write((sql) => write(sql, artefact)),
    get,
    getByUid: find('uid'),
    getByUserCode: find('user_code'),
    async consume(kind, id, { attempt, instead, successor }: Partial<Use> = {}) {
      const statement = `UPDATE ${table} SET consumed = coalesce(consumed, ?4), attempt = ?5
        WHERE kind = ?2 AND id = ?3 AND ${live} AND (consumed IS NULL OR attempt = ?6)`;
      const used = await database.write(async (sql) => {
        const use = successor ? sql : sql.last;
        const values = [
          clock.now(),
          kind,
          id,
          epochSeconds(clock),
          attempt ?? null,
          instead ?? null,
        ];
        // Asked together: on PostgreSQL they are one message.
        const [count] = await Promise.all([
          use.run(statement, ...values),
          successor && write(sql, successor, [kind, id, attempt ?? '']),
        ]);
        return count;
      });
      if (used > 0) return 'first';
      return (await get(kind, id)) === undefined ? 'absent' : 'again';
    },
    async settle(kind, id, attempt, remains) {
      const statement = `UPDATE ${table} SET attempt = NULL, payload = coalesce(?, payload)
        WHERE kind = ? AND id = ? AND attempt = ?`;
      const values = [remains ? JSON.stringify(remains) : null, kind, id, attempt];
      await database.write((sql) => sql.later(statement, ...values), { joins: true });
    },
    replace: (artefact, was) =>
      database.write(async (sql) => {
        const { kind, id } = artefact;
        const [row] = await sql.lock<Row>(select('id'), clock.now(), kind, id);
        const [payload, consumed] = row ?? [];
        if (payload !== JSON.stringify(was) || consumed !== null) return false;
        await write(sql, artefact);
        return true;
      }),
    listByAccount: (kind, accountId, { skip, count } = EVERY) =>
      database.read(async (sql) => {
        const statement = `SELECT payload, consumed, attempt FROM ${table} WHERE ${OF_ACCOUNT}
          ORDER BY ${END} DESC, place DESC LIMIT ?4 OFFSET ?5`;
        const rows = await sql.all<Row>(statement, clock.now(), kind, accountId, count, skip);
        return rows.map(payloadOf);
      }),
    countByAccount: (kind, accountId) =>
      database.read(async (sql) => {
        const statement = `SELECT count(*) FROM ${table} WHERE ${OF_ACCOUNT}`;
        const [row] = await sql.all<[count: number]>(statement, clock.now(), kind, accountId);
        return row?.[0] ?? 0;
      }),
    pageByClient: (kind, clientId, { limit, after }) =>
      database.read(async (sql) => {
        const statement = `SELECT id, ${END}, payload, consumed, attempt FROM ${table}
          WHERE ${OF_CLIENT} ${after ? `AND ${END} <= ?5 AND (${END}, id) < (?5, ?6)` : ''}
          ORDER BY ${END} DESC, id DESC LIMIT ?4`;
        const values = [clock.now(), kind, clientId, limit + 1];
        const place = after ? [after.end, after.id] : [];
        const rows = await sql.all<[id: string, end: number, ...Row]>(
          statement,
          ...values,
          ...place,
        );
        const page = rows.slice(0, limit);
        const [id, end] = page.at(-1) ?? [];
        return {
          found: page.map(([, , ...row]) => payloadOf(row)),
          ...(rows.length > limit &&
            id !== undefined &&
            end !== undefined && { next: { end, id } }),
        };
      }),
    remove: async (kind, ...ids) =>
      void (await database.write(async (sql) => {
        let removed = 0;
        if (kind === 'SignIn') await tellOfSignIns(sql, ids, clock.now());
        for (const [n, id] of ids.entries()) {
          const part = n < ids.length - 1 ? sql : sql.last;
          removed += await part.run(`DELETE FROM ${table} WHERE kind = ? AND id = ?`, kind, id);
        }
        return removed;
      }, MAKES_ROOM)),
    async removeByGrant(...grantIds) {
      for (let rows = BATCH; rows === BATCH; await turn()) {
        rows = await database.write(async (sql) => {
          sql.flush();
          if (table === 'artefact') await tellOfGrants(sql, grantIds, clock.now());
          const statement = `DELETE FROM ${table} WHERE place IN (
            SELECT place FROM ${table} WHERE grant_id IN EACH(?) LIMIT ${BATCH})`;
          return sql.last.run(statement, JSON.stringify(grantIds));
        }, MAKES_ROOM);
      }
    },
  };
}

/** Joins the artefacts of both tables. Writes of `PASSING_KINDS` do not wait for the disk. */
export function artefactsByKind(lasting: Artefacts, passing: Artefacts): Artefacts {
  const of = (kind: string) => (PASSING_KINDS.has(kind) ? passing : lasting);
  return {
    put: (artefact) => of(artefact.kind).put(artefact),
    get: (kind, ...rest) => of(kind).get(kind, ...rest),
    getByUid: (kind, ...rest) => of(kind).getByUid(kind, ...rest),
    getByUserCode: (kind, ...rest) => of(kind).getByUserCode(kind, ...rest),
    consume: (kind, ...rest) => of(kind).consume(kind, ...rest),
    settle: (kind, ...rest) => of(kind).settle(kind, ...rest),
    replace: (artefact, was) => of(artefact.kind).replace(artefact, was),
    listByAccount: (kind, ...rest) => of(kind).listByAccount(kind, ...rest),
    countByAccount: (kind, ...rest) => of(kind).countByAccount(kind, ...rest),
    pageByClient: (kind, ...rest) => of(kind).pageByClient(kind, ...rest),
    remove: (kind, ...rest) => of(kind).remove(kind, ...rest),
    async removeByGrant(...grants) {
      await passing.removeByGrant(...grants);
      await lasting.removeByGrant(...grants);
    },
  };
}
