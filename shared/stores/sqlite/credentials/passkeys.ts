import { afterUse } from '../../credentials/passkey-changes.ts';
import { personText } from '../../people/new-passkey.ts';
import type { PasskeyRecord, Passkeys } from '../../credentials/passkeys.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Statements } from '../file/connection.ts';
import type { Database } from '../file/file.ts';
import { hasPasskey, putPasskey } from '../file/passkey-rows.ts';

type Row = readonly [record: string];

const passkeyOf = ([record]: Row) => JSON.parse(record) as PasskeyRecord;

export function sqlitePasskeys(file: Database): Passkeys {
  const find = (connection: Statements, id: string) => {
    const [row] = connection.all<Row>('SELECT record FROM passkey WHERE id = ?', id);
    return row && passkeyOf(row);
  };
  /** The passkey if it is this person's. */
  const own = (connection: Statements, accountId: string, id: string) => {
    const passkey = find(connection, id);
    return passkey?.accountId === accountId ? passkey : undefined;
  };
  const replace = (connection: Statements, passkey: PasskeyRecord) =>
    connection.run(
      'UPDATE passkey SET record = ? WHERE id = ?',
      JSON.stringify(passkey),
      passkey.id,
    );
  const count = (connection: Statements, accountId: string) =>
    connection.all('SELECT 1 FROM passkey WHERE person = ?', personText(accountId)).length;

  return {
    add: (passkey, most) =>
      file.write((connection) => {
        if (hasPasskey(connection, passkey.id)) return 'taken';
        if (count(connection, passkey.accountId) >= most) return 'full';
        putPasskey(connection, passkey);
        return 'added';
      }),
    get: (id) => file.read((connection) => find(connection, id)),
    of: (accountId) =>
      file.read((connection) =>
        connection
          .all<Row>(
            'SELECT record FROM passkey WHERE person = ? ORDER BY created, id',
            personText(accountId),
          )
          .map(passkeyOf),
      ),
    list: () =>
      slices<PasskeyRecord>((last) =>
        file.read((connection) =>
          connection
            .all<Row>(
              `SELECT record FROM passkey ${last ? 'WHERE (person, created, id) > (?, ?, ?)' : ''}
               ORDER BY person, created, id LIMIT ${SLICE}`,
              ...(last ? [personText(last.accountId), last.created_at, last.id] : []),
            )
            .map(passkeyOf),
        ),
      ),
    use: (id, use) =>
      file.write((connection) => {
        const passkey = find(connection, id);
        if (passkey === undefined) return 'gone';
        const after = afterUse(passkey, use);
        replace(connection, after.passkey);
        return after.outcome;
      }),
    rename: (accountId, id, name) =>
      file.write((connection) => {
        const passkey = own(connection, accountId, id);
        if (passkey === undefined) return false;
        replace(connection, { ...passkey, name });
        return true;
      }),
    remove: (accountId, id, least) =>
      file.write((connection) => {
        if (own(connection, accountId, id) === undefined) return 'gone';
        if (count(connection, accountId) - 1 < least) return 'last';
        connection.run('DELETE FROM passkey WHERE id = ?', id);
        return 'removed';
      }),
    removeAll: async (accountId) =>
      void (await file.write((connection) =>
        connection.run('DELETE FROM passkey WHERE person = ?', personText(accountId)),
      )),
  };
}
