import * as z from 'zod';

const report = z.object({
  server: z.enum(['authz', 'resource']),
  version: z.string(),
  /** The name of its machine. */
  host: z.string().optional(),
  /** The number among the workers of its server, from 1. */
  worker: z.int().min(1),
  /** Milliseconds since the epoch. */
  since: z.number(),
  /** Whether it could do its work when it wrote this. */
  ready: z.boolean(),
  /** When it wrote this, in milliseconds since the epoch. */
  at: z.number(),
  /** Its last report: it does no more work. */
  ended: z.boolean().optional(),
});

/** The report of a process about itself, beside those about caches. */
export type ProcessReport = z.infer<typeof report>;

export const writeProcess = (process: ProcessReport): string => JSON.stringify(process);

/** Undefined: it is no report of a process, or what wrote it is of another version. */
export function readProcess(text: string): ProcessReport | undefined {
  try {
    return report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
