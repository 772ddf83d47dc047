import * as z from 'zod';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';

/** A second factor without its secrets. Times are in milliseconds since the epoch. */
export const secondFactorShown = z.strictObject({
  created_at: z.number(),
  used_at: z.number().exactOptional(),
  recovery_codes: z.int().describe('number of recovery codes that are left'),
});

/** Returns a second factor as operators see it. */
export const shownSecondFactor = ({ created_at, used_at, recovery }: SecondFactorRecord) => ({
  created_at,
  ...(used_at !== undefined && { used_at }),
  recovery_codes: recovery.length,
});
