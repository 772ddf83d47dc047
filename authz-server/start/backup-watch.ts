import type { Parts } from '#shared/server/process.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { BackupSettings } from '#shared/stores/backup/settings.ts';
import { isOverdue, periodBegin } from '#shared/stores/last-backup/last-backup.ts';

/** Seconds between two looks. A server that stood still for long makes its backup before the first. */
const LOOK = 600;

/**
 * Warns once in each period when the one before has passed without a good backup, whoever was to make it. A store that
 * never had one is given a whole period from the start of the server.
 */
export function backupWatch(
  { stores: { lastBackup }, clock, log }: Pick<Parts, 'stores' | 'clock' | 'log'>,
  { every }: Pick<BackupSettings, 'every'>,
): Chore {
  const started = clock.now();
  let warned = -Infinity;
  return {
    name: 'backup watch',
    seconds: LOOK,
    async run() {
      const now = clock.now();
      const period = periodBegin(now, every);
      if (warned === period) return;
      const last = await lastBackup.get();
      if (!isOverdue(last ?? started, now, every)) return;
      warned = period;
      const at = last === undefined ? 'none is known' : `the last is of ${timeOf(last)}`;
      log.warn('backup.overdue', { reason: `no good backup for ${every} seconds: ${at}` });
    },
  };
}

const timeOf = (at: number) => new Date(at).toISOString();
