import { epochSeconds, type Clock } from '#shared/clock.ts';
import type { Artefacts } from '../artefacts.ts';
import type { SqliteFile } from './file.ts';

type Row = { payload: string; consumed: number | null };

const text = (value: unknown) => (typeof value === 'string' ? value : null);

const payloadOf = ({ payload, consumed }: Row) => ({
  ...(JSON.parse(payload) as Record<string, unknown>),
  ...(consumed === null ? {} : { consumed }),
});

/** In SQL: has not expired; `?1` is now. */
const LIVE = '(expires IS NULL OR expires > ?1)';

export function sqliteArtefacts(file: SqliteFile, clock: Clock): Artefacts {
  const find = (column: 'id' | 'uid' | 'user_code') => (kind: string, value: string) =>
    file.read((connection) => {
      const [row] = connection.all<Row>(
        `SELECT payload, consumed FROM artefact
         WHERE kind = ?2 AND ${column} = ?3 AND ${LIVE} ORDER BY rowid DESC LIMIT 1`,
        clock.now(),
        kind,
        value,
      );
      return row && payloadOf(row);
    });

  return {
    put: ({ kind, id, payload, seconds }) =>
      file.write((connection) => {
        const now = clock.now();
        connection.run(
          `INSERT INTO artefact (kind, id, payload, grant_id, uid, user_code, expires)
           VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8)
           ON CONFLICT (kind, id) DO UPDATE SET
             payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
             user_code = excluded.user_code, expires = excluded.expires,
             consumed = iif(${LIVE}, consumed, NULL)`,
          now,
          kind,
          id,
          JSON.stringify(payload),
          text(payload['grantId']),
          text(payload['uid']),
          text(payload['userCode']),
          seconds === undefined ? null : Math.ceil(now + seconds * 1000),
        );
      }),
    get: find('id'),
    getByUid: find('uid'),
    getByUserCode: find('user_code'),
    consume: (kind, id) =>
      file.write((connection) => {
        const [row] = connection.all<{ consumed: number | null }>(
          `SELECT consumed FROM artefact WHERE kind = ?2 AND id = ?3 AND ${LIVE}`,
          clock.now(),
          kind,
          id,
        );
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
