import * as z from 'zod';

const report = z.object({
  server: z.enum(['authz', 'resource']),
  version: z.string(),
  /** The name of the machine. */
  host: z.string().optional(),
  /** The number of the worker in its server, from 1. */
  worker: z.int().min(1),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** Whether the process could work at that time. */
  ready: z.boolean(),
  /** The time of the report, in milliseconds since the epoch. */
  at: z.number(),
  /** True in the last report: the process has stopped. */
  ended: z.boolean().optional(),
});

/** The report of a process about itself. */
export type ProcessReport = z.infer<typeof report>;

export const writeProcess = (process: ProcessReport): string => JSON.stringify(process);

/** Undefined: not a report of a process, or another version wrote it. */
export function readProcess(text: string): ProcessReport | undefined {
  try {
    return report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
