import { epochSeconds, type Clock } from '#shared/clock.ts';
import { KINDS_BY_ACCOUNT, type Artefact, type Artefacts } from '../artefacts.ts';
import type { Connection } from './connection.ts';
import type { SqliteFile } from './file.ts';

type Column = 'id' | 'uid' | 'user_code';
type Row = { payload: string; consumed: number | null };

const text = (value: unknown) => (typeof value === 'string' ? value : null);

const payloadOf = ({ payload, consumed }: Row) => ({
  ...(JSON.parse(payload) as Record<string, unknown>),
  ...(consumed === null ? {} : { consumed }),
});

/** In SQL: has not expired; `?1` is now. */
const LIVE = '(expires IS NULL OR expires > ?1)';

export function sqliteArtefacts(file: SqliteFile, clock: Clock): Artefacts {
  const select = (
    connection: Connection,
    column: Column,
    kind: string,
    value: string,
  ): Row | undefined =>
    connection.all<Row>(
      `SELECT payload, consumed FROM artefact
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

  const write = (connection: Connection, { kind, id, payload, seconds }: Artefact): void => {
    const now = clock.now();
    connection.run(
      `INSERT INTO artefact (kind, id, payload, grant_id, uid, user_code, account_id, expires)
       VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
       ON CONFLICT (kind, id) DO UPDATE SET
         payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
         user_code = excluded.user_code, account_id = excluded.account_id,
         expires = excluded.expires, consumed = iif(${LIVE}, consumed, NULL)`,
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
    getByUid: find('uid'),
    getByUserCode: find('user_code'),
    consume: (kind, id) =>
      file.write((connection) => {
        const row = select(connection, 'id', kind, id);
        if (row === undefined) return 'absent';
        if (row.consumed !== null) return 'again';
        connection.run(
          'UPDATE artefact SET consumed = ? WHERE kind = ? AND id = ?',
          epochSeconds(clock),
          kind,
          id,
        );
        return 'first';
      }),
    replace: (artefact, was) =>
      file.write((connection) => {
        const row = select(connection, 'id', artefact.kind, artefact.id);
        if (row?.payload !== JSON.stringify(was) || row.consumed !== null) return false;
        write(connection, artefact);
        return true;
      }),
    listByAccount: (kind, accountId) =>
      file.read((connection) =>
        connection
          .all<Row>(
            `SELECT payload, consumed FROM artefact
             WHERE kind = ?2 AND account_id = ?3 AND ${LIVE}`,
            clock.now(),
            kind,
            accountId,
          )
          .map(payloadOf),
      ),
    remove: (kind, id) =>
      file.write(
        (connection) =>
          void connection.run('DELETE FROM artefact WHERE kind = ? AND id = ?', kind, id),
      ),
    removeByGrant: (grantId) =>
      file.write(
        (connection) => void connection.run('DELETE FROM artefact WHERE grant_id = ?', grantId),
      ),
  };
}
