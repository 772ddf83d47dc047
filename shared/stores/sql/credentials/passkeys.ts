import type { PasskeyRecord, Passkeys, PasskeyUse } from '../../credentials/passkeys.ts';
import type { NewPasskey } from '../../people/people.ts';
import { change, insert, recordsIn } from '../rows.ts';
import { type Database, MAKES_ROOM, type Sql } from '../sql.ts';

const passkeys = recordsIn<PasskeyRecord>('passkey');

const placeOf = ({ accountId, created_at, id }: PasskeyRecord) => [accountId, created_at, id];

/** The names that are locked while a passkey is added. */
export const namesOf = ({ id, accountId }: NewPasskey): readonly string[] => [
  `passkey ${id}`,
  `passkeys of ${accountId}`,
];

export const hasPasskey = async (sql: Sql, id: string): Promise<boolean> =>
  (await passkeys.find(sql, 'WHERE id = ?', id)) !== undefined;

/** Adds the row of a new passkey. */
export async function putPasskey(sql: Sql, passkey: NewPasskey): Promise<void> {
  const { id, accountId: person, created_at: created } = passkey;
  await insert(sql, 'passkey', { id, person, created, record: JSON.stringify(passkey) });
}

const replace = (sql: Sql, passkey: PasskeyRecord) =>
  sql.run('UPDATE passkey SET record = ? WHERE id = ?', JSON.stringify(passkey), passkey.id);

const count = async (sql: Sql, accountId: string) =>
  (await sql.all('SELECT 1 FROM passkey WHERE person = ?', accountId)).length;

/** The passkey after a use, and whether the use is refused. An older use does not set the time back. */
function afterUse(passkey: PasskeyRecord, { at, ...use }: PasskeyUse) {
  // WebAuthn section 7.2, step 22.
  const counts = use.counter !== 0 || passkey.counter !== 0;
  if (counts && use.counter <= passkey.counter) {
    const refused_at = Math.max(at, passkey.refused_at ?? at);
    return { outcome: 'refused', after: { ...passkey, refused_at } } as const;
  }
  const used_at = Math.max(at, passkey.used_at ?? at);
  return { outcome: 'used', after: { ...passkey, ...use, used_at } } as const;
}

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
    get: (id) => database.read((sql) => passkeys.find(sql, 'WHERE id = ?', id)),
    of: (accountId) =>
      database.read((sql) => passkeys.all(sql, 'WHERE person = ? ORDER BY created, id', accountId)),
    list: () => passkeys.slices(database, 'person, created, id', placeOf),
    use: (id, use) =>
      database.write(async (sql) => {
        const passkey = await passkeys.lock(sql, 'WHERE id = ?', id);
        if (passkey === undefined) return 'gone';
        const { outcome, after } = afterUse(passkey, use);
        await replace(sql, after);
        return outcome;
      }),
    rename: (accountId, id, name) =>
      database.write(async (sql) => {
        const passkey = await passkeys.lock(sql, 'WHERE id = ?', id);
        if (passkey?.accountId !== accountId) return false;
        await replace(sql, { ...passkey, name });
        return true;
      }),
    remove: (accountId, id, least) =>
      database.write(async (sql) => {
        const passkey = await passkeys.lock(sql, 'WHERE id = ?', id);
        await sql.lockNames([`passkeys of ${accountId}`]);
        if (passkey?.accountId !== accountId) return 'gone';
        if ((await count(sql, accountId)) - 1 < least) return 'last';
        await sql.run('DELETE FROM passkey WHERE id = ?', id);
        return 'removed';
      }, MAKES_ROOM),
    removeAll: (accountId) => change(database, 'DELETE FROM passkey WHERE person = ?', accountId),
  };
}
