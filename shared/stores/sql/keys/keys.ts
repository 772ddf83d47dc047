import type { Keys, StoredKey } from '../../keys/keys.ts';
import { change, insertNew, recordsIn } from '../rows.ts';
import type { Database } from '../sql.ts';

export function sqlKeys(database: Database, table: 'key' | 'gateway_key'): Keys {
  const keys = recordsIn<StoredKey>(table);
  return {
    list: () => database.read((sql) => keys.all(sql, 'ORDER BY kid')),
    add: (key, unlessOneOf) =>
      database.write(async (sql) => {
        const { kid, alg } = key;
        if (unlessOneOf !== undefined) {
          await sql.lockNames([`${table} ${unlessOneOf}`]);
          if (await keys.find(sql, 'WHERE alg = ? LIMIT 1', unlessOneOf)) return false;
        }
        return insertNew(sql.last, table, { kid, alg, record: JSON.stringify(key) });
      }),
    remove: (kid) => change(database, `DELETE FROM ${table} WHERE kid = ?`, kid),
  };
}
