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
    version: z.string().describe('that of the answering process'),
    mode: z.enum(['development', 'production']),
    processes: z
      .array(
        z.strictObject({
          process: z.string().describe('random, another one after a restart'),
          server: z.enum(['authz', 'resource']),
          version: z.string(),
          host: z
            .string()
            .optional()
            .describe('the name of its machine; absent: an older version does not say'),
          worker: z.int().describe('its number among the workers of its server'),
          since: z.number().describe('its start, in milliseconds since the epoch'),
          ready: z.boolean().describe('whether it could do its work when it was last heard of'),
          state: z
            .enum(['ready', 'not ready', 'silent', 'ended'])
            .describe(
              'silent: it missed two reports, and was perhaps killed; ended: it said that it ends. Both are forgotten after a minute',
            ),
          heard_at: z
            .number()
            .describe('when it was last heard of, in milliseconds since the epoch'),
        }),
      )
      .describe('those that were heard of within a minute'),
    backup_at: z
      .number()
      .optional()
      .describe(
        'when the last good backup was made, in milliseconds since the epoch; absent: none is known',
      ),
    backup_overdue: z
      .boolean()
      .describe('whether a whole period of the setting `backup` has passed without a good backup'),
    backup_every: z
      .number()
      .optional()
      .describe('seconds between two backups; absent: the setting `backup` is not there'),
    backup_keep: z
      .number()
      .optional()
      .describe('how many backups the authorization server keeps; absent: it makes none itself'),
    warnings: z
      .array(
        z.strictObject({
          path: z.string(),
          code: z.string(),
          values: z
            .record(z.string(), z.union([z.string(), z.number()]))
            .describe('what the message names'),
          message: z.string(),
        }),
      )
      .describe('settings that are probably a mistake, as `config check` says them'),
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
