import { used } from '../../credentials/last-use.ts';
import { changes, recordsIn } from '../rows.ts';
import type { Database, Sql, WriteOptions } from '../sql.ts';

/** The verbs that API keys and public keys have in common, and `edit` of one key. */
export function usedKeys<Key extends { readonly used_at?: number }>(
  database: Database,
  table: 'api_key' | 'public_key',
) {
  const keys = recordsIn<Key>(table);
  const recall = database.recalling<Key | undefined>();
  const find = (sql: Sql, id: string) => keys.find(sql, 'WHERE id = ?', id);

  /** Resolves to false if there is no such key. If `after` returns the same object, nothing is written. */
  const edit = (id: string, after: (key: Key) => Key, options?: WriteOptions) =>
    database.write(async (sql) => {
      const key = await keys.lock(sql, 'WHERE id = ?', id);
      if (key === undefined) return false;
      const edited = after(key);
      if (edited !== key) {
        await sql.run(`UPDATE ${table} SET record = ? WHERE id = ?`, JSON.stringify(edited), id);
      }
      return true;
    }, options);

  return {
    keys,
    edit,
    get: (id: string) => recall(id, (sql) => find(sql, id)),
    async touch(id: string, at: number) {
      // Most uses follow another within a minute, so a read comes first, which does not wait for the disk.
      const key = await database.read((sql) => find(sql, id));
      if (key === undefined || used(key, at) === key) return;
      await edit(id, (current) => used(current, at));
    },
    remove: (id: string) => changes(database, `DELETE FROM ${table} WHERE id = ?`, id),
  };
}
