import { backupSqlite } from '../sqlite/backup/backup.ts';
import { checkBackup } from './check.ts';
import { makeScheduled } from './scheduled.ts';
import { writeSums } from './sums.ts';

/** A process that makes the backup that is due, and prints what it did; or kills itself after the named step. */
const [, , data = '', folder = '', now = '', killAt = ''] = process.argv;

function after<T>(step: string, result: T): T {
  if (step === killAt) process.kill(process.pid, 'SIGKILL');
  return result;
}

const parts = {
  data,
  settings: { folder, every: 3600, keep: 2 },
  clock: { now: () => Number(now), monotonic: () => Number(now) },
  copyState: async (from: string, to: string) => after('copyState', backupSqlite(from, to)),
  writeSums: async (to: string) => after('writeSums', writeSums(to)),
  check: async (to: string, before?: string) => after('check', checkBackup(to, before)),
};
try {
  console.log(JSON.stringify((await makeScheduled(parts)) ?? null));
} catch (error) {
  console.log(JSON.stringify(String(error)));
}
