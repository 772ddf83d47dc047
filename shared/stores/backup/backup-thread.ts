import { serveTasks } from '#shared/base/thread.ts';
import type { PostgresSettings } from '../settings.ts';
import { backupSqlite } from '../sqlite/backup/backup.ts';
import { checkBackup } from './check.ts';
import { writeSums } from './sums.ts';

/** The steps that take long with a large store, for backup-threads.ts. Paths and settings are octets in UTF-8. */
serveTasks({
  copyState: (data: Buffer, folder: Buffer) => {
    backupSqlite(String(data), String(folder));
    return undefined;
  },
  copyPostgres: async (settings: Buffer, folder: Buffer) => {
    const { backupPostgres } = await import('./from-postgres.ts');
    await backupPostgres(JSON.parse(String(settings)) as PostgresSettings, String(folder));
    return undefined;
  },
  writeSums: (folder: Buffer) => {
    writeSums(String(folder));
    return undefined;
  },
  check: (folder: Buffer, before?: Buffer) =>
    Buffer.from(JSON.stringify(checkBackup(String(folder), before && String(before)))),
});
