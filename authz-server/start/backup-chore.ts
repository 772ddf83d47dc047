import type { Parts } from '#shared/server/process.ts';
import type { Chore } from '#shared/server/chore.ts';
import { openBackupThreads } from '#shared/stores/backup/backup-threads.ts';
import { makeScheduled } from '#shared/stores/backup/scheduled.ts';
import type { BackupSettings } from '#shared/stores/backup/settings.ts';

/** Seconds between two looks whether a backup is due. */
const LOOK = 2;
/** Milliseconds until one that failed is tried again. */
const PAUSE = 60_000;

/** Makes the backups of the schedule, and tells of each that was made. */
export function backupChore(
  { config, clock, random, log }: Pick<Parts, 'config' | 'clock' | 'random' | 'log'>,
  settings: BackupSettings,
): Chore & AsyncDisposable {
  const threads = openBackupThreads();
  const parts = { ...threads, data: config.data, settings, clock, random };
  let from = -Infinity;
  return {
    name: 'backup',
    seconds: LOOK,
    async run() {
      if (clock.monotonic() < from) return;
      from = clock.monotonic() + PAUSE;
      const made = await makeScheduled(parts);
      from = -Infinity;
      if (made) log.info('backup.made', made);
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
