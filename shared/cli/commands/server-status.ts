import { showServers } from '#shared/operations/servers/server-status.ts';
import { minute } from '../lines/last-use.ts';
import { every, span } from '../lines/span.ts';
import { table } from '../lines/table.ts';
import { commandOf } from '../stores/of-operation.ts';

export const serverStatus = commandOf(showServers, {
  details: ['Each process reports three times a minute.'],
  lines: (told, _, now) => [
    `Countersign ${told.version}, ${told.mode}`,
    ...(told.processes.length === 0
      ? ['No process has reported within the last minute.']
      : table(
          HEADINGS,
          told.processes.map(
            ({ server, host = '', worker, version, since, state, heard_at: heard }) => [
              server,
              host,
              String(worker),
              version,
              minute(since),
              state,
              `${span((now - heard) / 1000)} ago`,
            ],
          ),
        )),
    ...backupLines(told, now),
    ...told.warnings.map(({ path, message }) => `Look again: ${path} ${message}.`),
  ],
  failed({ processes }) {
    const running = processes.filter(({ state }) => state !== 'ended');
    return running.length === 0 || running.some(({ ready }) => !ready);
  },
});

const HEADINGS = ['server', 'host', 'worker', 'version', 'since', 'state', 'heard of'];

interface Backups {
  readonly backup_at?: number | undefined;
  readonly backup_every?: number | undefined;
  readonly backup_keep?: number | undefined;
  readonly backup_overdue: boolean;
}

function backupLines(
  { backup_at: at, backup_every: period, backup_keep: keep, backup_overdue: overdue }: Backups,
  now: number,
): readonly string[] {
  if (at === undefined && period === undefined) {
    return ['Backups are not set up: the setting `backup` says how often and where.'];
  }
  const kept = keep === undefined ? '' : `, and ${keep} are kept`;
  return [
    at === undefined
      ? 'No good backup is known.'
      : `The last good backup is of ${minute(at)}, ${span((now - at) / 1000)} ago.`,
    period === undefined
      ? 'No backups are planned: the setting `backup` says how often.'
      : `A backup is due ${every(period)}${kept}.`,
    ...(overdue ? ['A backup is overdue: look for `backup` in the log.'] : []),
  ];
}
