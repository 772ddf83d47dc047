import { showServers } from '#shared/operations/servers/server-status.ts';
import { minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { commandOf } from '../stores/of-operation.ts';
import { counted } from '#shared/base/counted.ts';
import { showRevocationStatus } from '#shared/operations/tokens/revocation-status.ts';

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

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Returns a duration in the longest unit of which it has at least one, for example `3 hours`. */
export function span(seconds: number): string {
  const [unit, length] = UNITS.find(([, one]) => seconds >= one) ?? (['second', 1] as const);
  return counted(Math.max(0, Math.floor(seconds / length)), unit);
}

/** Returns an interval in words, without rounding, for example `every day` or `every 90 minutes`. */
export function every(seconds: number): string {
  const [unit, length] = UNITS.find(([, one]) => seconds % one === 0) ?? (['second', 1] as const);
  return seconds === length ? `every ${unit}` : `every ${counted(seconds / length, unit)}`;
}

export const revocationStatus = commandOf(showRevocationStatus, {
  lines: ({ entries, cursor, epoch, trusted }) => [
    `entries: ${entries}`,
    `position: ${cursor}`,
    `epoch: ${epoch ?? 'none: no authorization server has started on this store yet'}`,
    `trusted: ${trusted ? 'yes' : 'no: resource servers answer 503'}`,
  ],
  failed: ({ trusted }) => !trusted,
});
