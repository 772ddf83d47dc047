import type { LastBackup } from '../../last-backup/last-backup.ts';
import type { SqliteFile } from '../file/file.ts';

/** The table has one row, or none. */
export const sqliteLastBackup = (file: SqliteFile): LastBackup => ({
  note: (at) =>
    file.write((connection) => {
      connection.run('INSERT OR REPLACE INTO last_backup (one, at) VALUES (1, ?)', Math.floor(at));
    }),
  get: () =>
    file.read((connection) => connection.all<[at: number]>('SELECT at FROM last_backup')[0]?.[0]),
});
