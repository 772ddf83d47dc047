import type { Keys, StoredKey } from '../../keys/keys.ts';
import type { Database } from '../sql.ts';

export function sqlKeys(database: Database, table: 'key' | 'gateway_key'): Keys {
  return {
    list: () =>
      database.read(async (sql) => {
        const rows = await sql.all<[record: string]>(`SELECT record FROM ${table} ORDER BY kid`);
        return rows.map(([record]) => JSON.parse(record) as StoredKey);
      }),
    add: (key, unlessOneOf) =>
      database.write(async (sql) => {
        if (unlessOneOf !== undefined) {
          await sql.lockNames([`${table} ${unlessOneOf}`]);
          const there = await sql.all(`SELECT 1 FROM ${table} WHERE alg = ? LIMIT 1`, unlessOneOf);
          if (there.length > 0) return false;
        }
        const added = await sql.last.run(
          `INSERT INTO ${table} (kid, alg, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
          key.kid,
          key.alg,
          JSON.stringify(key),
        );
        return added === 1;
      }),
    remove: async (kid) =>
      void (await database.write((sql) => sql.last.run(`DELETE FROM ${table} WHERE kid = ?`, kid))),
  };
}
