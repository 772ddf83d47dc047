import type { Parts } from '#shared/server/process.ts';
import type { Chore } from '#shared/server/chore.ts';
import { openBackupThreads } from '#shared/stores/backup/backup-threads.ts';
import { hasScheduled, makeScheduled } from '#shared/stores/backup/scheduled.ts';
import type { ScheduleSettings } from '#shared/stores/backup/settings.ts';
import { periodBegin } from '#shared/stores/last-backup/last-backup.ts';

/** Seconds between two checks whether a backup is due. */
const LOOK = 2;
/** Milliseconds after which a failed backup is repeated. */
const PAUSE = 60_000;

type ChoreParts = Pick<Parts, 'config' | 'stores' | 'clock' | 'log'>;

/** Makes the scheduled backups, logs each one, and notes it as the last successful backup. */
export function backupChore(
  { config, stores: { lastBackup }, clock, log }: ChoreParts,
  settings: ScheduleSettings,
): Chore & AsyncDisposable {
  const threads = openBackupThreads(config.store);
  const parts = { ...threads, data: config.data, settings, clock };
  let from = -Infinity;
  /** The period whose backup is already noted. */
  let noted = -Infinity;

  /**
   * The process that made the backup may have died before it noted the backup; then the beginning of the period counts.
   */
  async function noteFound(begin: number): Promise<void> {
    if (noted === begin || !hasScheduled(settings, begin)) return;
    const last = (await lastBackup.get()) ?? -Infinity;
    if (last < begin || last > clock.now()) await lastBackup.note(begin);
    noted = begin;
  }

  return {
    name: 'backup',
    seconds: LOOK,
    async run() {
      if (clock.monotonic() < from) return;
      from = clock.monotonic() + PAUSE;
      const began = clock.now();
      const made = await makeScheduled(parts);
      from = -Infinity;
      if (made) {
        log.info('backup.made', made);
        await lastBackup.note(began);
      }
      await noteFound(periodBegin(began, settings.every));
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
