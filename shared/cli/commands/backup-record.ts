import type { Command } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const backupRecord: Command = {
  name: 'backup record',
  summary: 'record that your own tools have just made a valid backup',
  operands: [],
  details: [
    'Run it as the last step of such a backup, after a check. `server status`, /admin, the metric',
    'countersign_last_backup_timestamp_seconds and the warning `backup.overdue` in the log use this time.',
    '`countersign backup` and the setting `backup` with a folder record it themselves.',
  ],
  run: async (_, shell) => {
    const at = shell.clock.now();
    await withStores(shell, ({ lastBackup }) => lastBackup.note(at));
    return { json: { at }, lines: ['Noted.'] };
  },
};
