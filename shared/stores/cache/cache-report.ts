import * as z from 'zod';

const count = z.int().min(0);

const ban = z.object({
  /** As in the feed. Absent: of a newer server, which has everything. */
  rule: z.unknown().optional(),
  soft: z.boolean(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Answers that it met here. */
  met: count,
  /** Whether the store was gone through. */
  swept: z.boolean(),
});

export const spaceReport = z.object({
  /** As invalidations name it. */
  space: z.string(),
  /** Each of its two origins, where it has them, has a cache of its own. */
  origin: z.string(),
  entries: count,
  octets: count,
  /** How many requests came to what, such as hit and miss. */
  counts: z.record(z.string(), count),
  /** Newest first. */
  bans: z.array(ban),
});

const report = z.array(spaceReport);

/** The report of a process about the cache of each of its spaces. */
export type CacheReport = z.infer<typeof report>;

export function writeReport(spaces: CacheReport): string {
  return JSON.stringify(spaces);
}

/** Undefined: what wrote it is of another version. */
export function readReport(text: string): CacheReport | undefined {
  try {
    return report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
