import type { LastBackup } from '../../last-backup/last-backup.ts';
import { first, put } from '../rows.ts';
import type { Database } from '../sql.ts';

/** The table has one row, or none. */
export const sqlLastBackup = (database: Database): LastBackup => ({
  note: async (at) =>
    void (await database.write((sql) =>
      put(sql.last, 'last_backup', 'one', { one: 1, at: Math.floor(at) }),
    )),
  get: () =>
    database.read(
      async (sql) => (await first<[at: number]>(sql, 'SELECT at FROM last_backup'))?.[0],
    ),
});
