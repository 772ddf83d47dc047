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

const report = z.array(spaceReport);

/** The report of a process about the caches of its spaces. */
export type CacheReport = z.infer<typeof report>;

export function writeReport(spaces: CacheReport): string {
  return JSON.stringify(spaces);
}

/** Undefined: another version wrote the report. */
export function readReport(text: string): CacheReport | undefined {
  try {
    return report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
