import * as z from 'zod';

const count = z.int().min(0);

const ban = z.object({
  /** The rule of the feed. Absent: the gateway knows no such rule, and the ban covers all answers. */
  rule: z.unknown().optional(),
  soft: z.boolean(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Answers in this cache that the ban has met. */
  met: count,
  /** Whether the cache has compared all its answers with the ban. */
  swept: z.boolean(),
});

export const spaceReport = z.object({
  /** The space as invalidations name it. */
  space: z.string(),
  /** Each origin of the space has a cache of its own. */
  origin: z.string(),
  entries: count,
  octets: count,
  /** The number of requests by outcome, such as hit and miss. */
  counts: z.record(z.string(), count),
  /** Newest first. */
  bans: z.array(ban),
});

const cacheReport = z.array(spaceReport);

/** The report of a process about the caches of its spaces. */
export type CacheReport = z.infer<typeof cacheReport>;

const processReport = z.object({
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
export type ProcessReport = z.infer<typeof processReport>;

export const writeReport = (report: CacheReport | ProcessReport): string => JSON.stringify(report);

/** Undefined: another version wrote the report, or it is no report about caches. */
export const readCacheReport = (text: string): CacheReport | undefined => read(cacheReport, text);

/** Undefined: another version wrote the report, or it is no report of a process about itself. */
export const readProcessReport = (text: string): ProcessReport | undefined =>
  read(processReport, text);

function read<T>(form: z.ZodType<T>, text: string): T | undefined {
  try {
    return form.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
