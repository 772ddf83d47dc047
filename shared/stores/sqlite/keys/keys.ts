import type { Keys, StoredKey } from '../../keys/keys.ts';
import type { Database } from '../file/file.ts';

export function sqliteKeys(file: Database, table: 'key' | 'gateway_key'): Keys {
  return {
    list: () =>
      file.read((connection) =>
        connection
          .all<[record: string]>(`SELECT record FROM ${table} ORDER BY kid`)
          .map(([record]) => JSON.parse(record) as StoredKey),
      ),
    add: (key, unlessOneOf) =>
      file.write(
        (connection) =>
          connection.run(
            `INSERT INTO ${table} (kid, alg, record)
             SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE alg = ?)
             ON CONFLICT DO NOTHING`,
            key.kid,
            key.alg,
            JSON.stringify(key),
            unlessOneOf ?? null,
          ) === 1,
      ),
    remove: async (kid) =>
      void (await file.write((connection) =>
        connection.run(`DELETE FROM ${table} WHERE kid = ?`, kid),
      )),
  };
}
