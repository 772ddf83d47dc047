import type { Command } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const backupRecord: Command = {
  name: 'backup record',
  summary: 'record that your own tools have just made a valid backup',
  operands: [],
  details: [
    'Let it be the last step of such a backup, after a check. `server status`, /admin, the metric',
    'countersign_last_backup_timestamp_seconds and the warning `backup.overdue` in the log go by it.',
    '`countersign backup` and the setting `backup` with a folder need no such note.',
  ],
  run: async (_, shell) => {
    const at = shell.clock.now();
    await withStores(shell, ({ lastBackup }) => lastBackup.note(at));
    return { json: { at }, lines: ['Noted.'] };
  },
};
