import * as z from 'zod';
import { VERSION } from '#shared/base/version.ts';
import { isProduction } from '#shared/config/production.ts';
import { configWarnings } from '#shared/config/warnings.ts';
import { type ProcessReport, readProcessReport } from '#shared/stores/cache/reports.ts';
import { isOverdue } from '#shared/stores/last-backup/last-backup.ts';
import { operation } from '../operation.ts';

/** Lists the processes that have reported within the last minute, and warnings about the configuration. */
export const showServers = operation({
  name: 'server status',
  summary: 'show the running processes with their versions, and the warnings of the configuration',
  effect: 'reads',
  input: z.strictObject({}),
  operands: [],
  output: z.strictObject({
    version: z.string().describe('the version of the process that answers'),
    mode: z.enum(['development', 'production']),
    processes: z
      .array(
        z.strictObject({
          process: z.string().describe('a random id, which changes with each restart'),
          server: z.enum(['authz', 'resource']),
          version: z.string(),
          host: z
            .string()
            .optional()
            .describe(
              'the name of the machine; absent: an older version, which does not report the name',
            ),
          worker: z.int().describe('the number of the worker at its server'),
          since: z.number().describe('the start of the process, in milliseconds since the epoch'),
          ready: z.boolean().describe('whether the process was ready at its last report'),
          state: z
            .enum(['ready', 'not ready', 'silent', 'ended'])
            .describe(
              'silent: the process missed two reports, and was perhaps killed; ended: the process reported its end. After a minute the list has neither',
            ),
          heard_at: z
            .number()
            .describe('the time of the last report, in milliseconds since the epoch'),
        }),
      )
      .describe('the processes that reported within a minute'),
    backup_at: z
      .number()
      .optional()
      .describe(
        'the time of the last valid backup, in milliseconds since the epoch; absent: no backup is known',
      ),
    backup_overdue: z
      .boolean()
      .describe('whether a whole period of the setting `backup` has passed without a valid backup'),
    backup_every: z
      .number()
      .optional()
      .describe('seconds between two backups; absent: the setting `backup` is absent'),
    backup_keep: z
      .number()
      .optional()
      .describe(
        'number of backups that the authorization server keeps; absent: the server makes no backups',
      ),
    warnings: z
      .array(
        z.strictObject({
          path: z.string(),
          code: z.string(),
          values: z.record(z.string(), z.unknown()).describe('the values that the message names'),
          message: z.string(),
        }),
      )
      .describe('warnings of settings that are probably a mistake, as in `config check`'),
  }),
  async run(_, { config, stores, clock }) {
    const [reports, last] = await Promise.all([stores.cacheReports.all(), stores.lastBackup.get()]);
    const { backup } = config;
    const processes = [...reports].flatMap(([process, text]) => {
      const report = readProcessReport(text);
      return report === undefined ? [] : [{ process, ...stateOf(report, clock.now()) }];
    });
    const place = ({ server, host = '', worker, since }: (typeof processes)[number]) =>
      `${server} ${host} ${String(worker).padStart(4)} ${since}`;
    return {
      version: VERSION,
      mode: isProduction(config) ? ('production' as const) : ('development' as const),
      processes: processes.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)),
      ...(last !== undefined && { backup_at: last }),
      ...(backup && { backup_every: backup.every }),
      ...(backup?.folder !== undefined && { backup_keep: backup.keep }),
      backup_overdue:
        backup !== undefined && isOverdue(last ?? -Infinity, clock.now(), backup.every),
      warnings: configWarnings(config, clock.now()),
    };
  },
});

/**
 * Milliseconds without a report after which a process is shown as silent; a running process reports every 20 seconds.
 */
const SILENT = 45_000;

function stateOf({ at, ended, ...report }: ProcessReport, now: number) {
  const isSilent = now > at + SILENT;
  const alive = report.ready ? ('ready' as const) : ('not ready' as const);
  const state = ended ? ('ended' as const) : isSilent ? ('silent' as const) : alive;
  return { ...report, ready: state === 'ready', state, heard_at: at };
}
