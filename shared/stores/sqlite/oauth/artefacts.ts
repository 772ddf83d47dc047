import { setImmediate as turn } from 'node:timers/promises';
import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import {
  KINDS_BY_ACCOUNT,
  NEVER,
  type Artefact,
  type Artefacts,
  type Slice,
  type Use,
} from '../../oauth/artefacts.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';

type Column = 'id' | 'uid' | 'user_code';
type Row = readonly [payload: string, consumed: number | null, attempt: string | null];

const text = (value: unknown) => (typeof value === 'string' ? value : null);

const payloadOf = ([payload, consumed, attempt]: Row): Record<string, unknown> => ({
  ...(JSON.parse(payload) as Record<string, unknown>),
  ...(consumed === null ? {} : { consumed }),
  ...(attempt === null ? {} : { attempt }),
});

/** In SQL: has not expired; `?1` is now. */
const LIVE = '(expires IS NULL OR expires > ?1)';

/** In SQL, as the indexes of accounts and clients have it: when an artefact expires, or never. */
const END = `ifnull(expires, ${NEVER})`;
/** In SQL: one kind of one account that has not expired; `?1` is now. */
const OF_ACCOUNT = `kind = ?2 AND account_id = ?3 AND ${END} > ?1`;
/** In SQL, as the index of clients has it: one kind of one client that has not expired. */
const OF_CLIENT = `kind IN ('Access', 'Consent') AND kind = ?2 AND payload ->> '$.clientId' = ?3 AND ${END} > ?1`;

/** Rows of grants that go at a time: each refresh has left one. Others have their turn between. */
const BATCH = 500;

/** In SQL no limit. */
const EVERY: Slice = { skip: 0, count: -1 };

export function sqliteArtefacts(file: Database, clock: Clock): Artefacts {
  const select = (
    connection: Statements,
    column: Column,
    kind: string,
    value: string,
  ): Row | undefined =>
    connection.all<Row>(
      `SELECT payload, consumed, attempt FROM artefact
       WHERE kind = ?2 AND ${column} = ?3 AND ${LIVE} ORDER BY rowid DESC LIMIT 1`,
      clock.now(),
      kind,
      value,
    )[0];

  const find = (column: Column) => (kind: string, value: string) =>
    file.read((connection) => {
      const row = select(connection, column, kind, value);
      return row && payloadOf(row);
    });

  const write = (connection: Statements, { kind, id, payload, seconds }: Artefact): void => {
    const now = clock.now();
    connection.run(
      `INSERT INTO artefact (kind, id, payload, grant_id, uid, user_code, account_id, expires)
       VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
       ON CONFLICT (kind, id) DO UPDATE SET
         payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
         user_code = excluded.user_code, account_id = excluded.account_id,
         expires = excluded.expires, consumed = iif(${LIVE}, consumed, NULL),
         attempt = iif(${LIVE}, attempt, NULL)`,
      now,
      kind,
      id,
      JSON.stringify(payload),
      text(payload['grantId']),
      text(payload['uid']),
      text(payload['userCode']),
      KINDS_BY_ACCOUNT.has(kind) ? text(payload['accountId']) : null,
      seconds === undefined ? null : Math.ceil(now + seconds * 1000),
    );
  };

  return {
    put: (artefact) => file.write((connection) => write(connection, artefact)),
    get: find('id'),
    beginningAfter: () => '',
    getByUid: find('uid'),
    getByUserCode: find('user_code'),
    consume: (kind, id, { attempt, instead, successor }: Partial<Use> = {}) =>
      file.write((connection) => {
        const row = select(connection, 'id', kind, id);
        if (row === undefined) return 'absent';
        const [, consumed, before] = row;
        if (consumed !== null && (instead === undefined || before !== instead)) return 'again';
        connection.run(
          'UPDATE artefact SET consumed = ifnull(consumed, ?), attempt = ? WHERE kind = ? AND id = ?',
          epochSeconds(clock),
          attempt ?? null,
          kind,
          id,
        );
        if (successor) write(connection, successor);
        return 'first';
      }),
    settle: (kind, id, attempt, remains) =>
      file.write(
        (connection) =>
          void connection.run(
            `UPDATE artefact SET attempt = NULL, payload = ifnull(?, payload)
             WHERE kind = ? AND id = ? AND attempt = ?`,
            remains ? JSON.stringify(remains) : null,
            kind,
            id,
            attempt,
          ),
      ),
    replace: (artefact, was) =>
      file.write((connection) => {
        const row = select(connection, 'id', artefact.kind, artefact.id);
        const [payload, consumed] = row ?? [];
        if (payload !== JSON.stringify(was) || consumed !== null) return false;
        write(connection, artefact);
        return true;
      }),
    listByAccount: (kind, accountId, { skip, count } = EVERY) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT payload, consumed, attempt FROM artefact WHERE ${OF_ACCOUNT}
             ORDER BY ${END} DESC, rowid DESC LIMIT ?4 OFFSET ?5`,
            clock.now(),
            kind,
            accountId,
            count,
            skip,
          )
          .map(payloadOf),
      ),
    countByAccount: (kind, accountId) =>
      file.read((connection) => {
        const sql = `SELECT count(*) AS count FROM artefact WHERE ${OF_ACCOUNT}`;
        return connection.all<[count: number]>(sql, clock.now(), kind, accountId)[0]?.[0] ?? 0;
      }),
    pageByClient: (kind, clientId, { limit, after }) =>
      file.read((connection) => {
        const rows = connection.all<readonly [id: string, end: number, ...Row]>(
          `SELECT id, ${END}, payload, consumed, attempt FROM artefact
           WHERE ${OF_CLIENT} ${after ? `AND ${END} <= ?5 AND (${END}, id) < (?5, ?6)` : ''}
           ORDER BY ${END} DESC, id DESC LIMIT ?4`,
          clock.now(),
          kind,
          clientId,
          limit + 1,
          ...(after ? [after.end, after.id] : []),
        );
        const page = rows.slice(0, limit);
        const [id, end] = page.at(-1) ?? [];
        return {
          // In SQL the text of an array is no other than a text.
          found: page
            .map(([, , ...row]) => payloadOf(row))
            .filter((one) => one['clientId'] === clientId),
          ...(rows.length > limit &&
            id !== undefined &&
            end !== undefined && { next: { end, id } }),
        };
      }),
    remove: async (kind, ...ids) =>
      void (await file.write((connection) =>
        ids
          .map((id) => connection.run('DELETE FROM artefact WHERE kind = ? AND id = ?', kind, id))
          .reduce((sum, rows) => sum + rows, 0),
      )),
    async removeByGrant(...grantIds) {
      for (let rows = BATCH; rows === BATCH; await turn()) {
        rows = await file.write((connection) => {
          connection.flushMark();
          return connection.run(
            `DELETE FROM artefact WHERE rowid IN (
               SELECT rowid FROM artefact
               WHERE grant_id IN (SELECT value FROM json_each(?)) LIMIT ${BATCH})`,
            JSON.stringify(grantIds),
          );
        });
      }
    },
  };
}
