import { afterUse } from '../../credentials/passkey-changes.ts';
import type { PasskeyRecord, Passkeys } from '../../credentials/passkeys.ts';
import { type NewPasskey, personText } from '../../people/new-passkey.ts';
import { SLICE, slices } from '../../people/slices.ts';
import type { Database, Sql } from '../sql.ts';

type Row = readonly [record: string];

const passkeyOf = ([record]: Row) => JSON.parse(record) as PasskeyRecord;

const FIND = 'SELECT record FROM passkey WHERE id = ?';

/** The names that are locked for a passkey to be added. */
export const namesOf = ({ id, accountId }: NewPasskey): readonly string[] => [
  `passkey ${id}`,
  `passkeys of ${personText(accountId)}`,
];

/** Whether there is a passkey of this id, for whomever. */
export const hasPasskey = async (sql: Sql, id: string): Promise<boolean> =>
  (await sql.all(FIND, id)).length > 0;

/** Writes the row of a new passkey, within a transaction of the caller. */
export async function putPasskey(sql: Sql, passkey: NewPasskey): Promise<void> {
  const { id, accountId, created_at } = passkey;
  await sql.run(
    'INSERT INTO passkey (id, person, created, record) VALUES (?, ?, ?, ?)',
    id,
    personText(accountId),
    created_at,
    JSON.stringify(passkey),
  );
}

const replace = (sql: Sql, passkey: PasskeyRecord) =>
  sql.run('UPDATE passkey SET record = ? WHERE id = ?', JSON.stringify(passkey), passkey.id);

const count = async (sql: Sql, accountId: string) =>
  (await sql.all('SELECT 1 FROM passkey WHERE person = ?', personText(accountId))).length;

export function sqlPasskeys(database: Database): Passkeys {
  return {
    add: (passkey, most) =>
      database.write(async (sql) => {
        await sql.lockNames(namesOf(passkey));
        if (await hasPasskey(sql, passkey.id)) return 'taken';
        if ((await count(sql, passkey.accountId)) >= most) return 'full';
        await putPasskey(sql, passkey);
        return 'added';
      }),
    get: (id) =>
      database.read(async (sql) => {
        const [row] = await sql.all<Row>(FIND, id);
        return row && passkeyOf(row);
      }),
    of: (accountId) =>
      database.read(async (sql) => {
        const rows = await sql.all<Row>(
          'SELECT record FROM passkey WHERE person = ? ORDER BY created, id',
          personText(accountId),
        );
        return rows.map(passkeyOf);
      }),
    list: () =>
      slices<PasskeyRecord>((last) =>
        database.read(async (sql) => {
          const rows = await sql.all<Row>(
            `SELECT record FROM passkey ${last ? 'WHERE (person, created, id) > (?, ?, ?)' : ''}
             ORDER BY person, created, id LIMIT ${SLICE}`,
            ...(last ? [personText(last.accountId), last.created_at, last.id] : []),
          );
          return rows.map(passkeyOf);
        }),
      ),
    use: (id, use) =>
      database.write(async (sql) => {
        const [row] = await sql.lock<Row>(FIND, id);
        if (row === undefined) return 'gone';
        const after = afterUse(passkeyOf(row), use);
        await replace(sql, after.passkey);
        return after.outcome;
      }),
    rename: (accountId, id, name) =>
      database.write(async (sql) => {
        const [row] = await sql.lock<Row>(FIND, id);
        const passkey = row && passkeyOf(row);
        if (passkey?.accountId !== accountId) return false;
        await replace(sql, { ...passkey, name });
        return true;
      }),
    remove: (accountId, id, least) =>
      database.write(async (sql) => {
        const [row] = await sql.lock<Row>(FIND, id);
        await sql.lockNames([`passkeys of ${personText(accountId)}`]);
        if (row === undefined || passkeyOf(row).accountId !== accountId) return 'gone';
        if ((await count(sql, accountId)) - 1 < least) return 'last';
        await sql.run('DELETE FROM passkey WHERE id = ?', id);
        return 'removed';
      }),
    removeAll: async (accountId) =>
      void (await database.write((sql) =>
        sql.last.run('DELETE FROM passkey WHERE person = ?', personText(accountId)),
      )),
  };
}
