import { serveTasks } from '#shared/base/thread.ts';
import type { StoreSettings } from '../settings.ts';
import { checkBackup } from './check.ts';
import { copyRows } from './copy-store.ts';
import { writeSums } from './sums.ts';

/** The slow steps of a backup, for backup-threads.ts. Paths and settings are octets in UTF-8. */
serveTasks({
  copyState: async (store: Buffer, data: Buffer, folder: Buffer) => {
    await copyRows(JSON.parse(String(store)) as StoreSettings, String(data), String(folder));
    return undefined;
  },
  writeSums: (folder: Buffer) => {
    writeSums(String(folder));
    return undefined;
  },
  check: (folder: Buffer, before?: Buffer) =>
    Buffer.from(JSON.stringify(checkBackup(String(folder), before && String(before)))),
});
