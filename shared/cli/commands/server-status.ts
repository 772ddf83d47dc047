import { showServers } from '#shared/operations/servers/server-status.ts';
import { minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { commandOf } from '../stores/of-operation.ts';

export const serverStatus = commandOf(showServers, {
  details: ['Each process says three times a minute that it is there.'],
  lines: ({ version, mode, processes, backup_at: backup, backup_overdue: overdue, warnings }) => [
    `Countersign ${version}, ${mode}`,
    ...(processes.length === 0
      ? ['No process was heard of within the last minute.']
      : table(
          HEADINGS,
          processes.map(({ server, worker, version: its, since, ready }) => [
            server,
            String(worker),
            its,
            minute(since),
            ready ? 'yes' : 'no',
          ]),
        )),
    backup === undefined
      ? 'No good backup is known.'
      : `The last good backup is of ${minute(backup)}.`,
    ...(overdue ? ['A backup is overdue: look for `backup` in the log.'] : []),
    ...warnings.map(({ path, message }) => `Look again: ${path} ${message}.`),
  ],
  failed: ({ processes }) => processes.length === 0 || processes.some(({ ready }) => !ready),
});

const HEADINGS = ['server', 'worker', 'version', 'since', 'ready'];
