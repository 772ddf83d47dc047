import type { LastBackup } from '../../last-backup/last-backup.ts';
import type { Database } from '../sql.ts';

/** The table has one row, or none. */
export const sqlLastBackup = (database: Database): LastBackup => ({
  note: async (at) =>
    void (await database.write((sql) =>
      sql.last.run(
        'INSERT INTO last_backup (one, at) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET at = excluded.at',
        Math.floor(at),
      ),
    )),
  get: () =>
    database.read(async (sql) => {
      const [row] = await sql.all<[at: number]>('SELECT at FROM last_backup');
      return row?.[0];
    }),
});
