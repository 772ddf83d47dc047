import { z } from 'zod';
import { seconds } from '#shared/base/members.ts';

/** Seconds; the most that a space may have as `maxAge`. */
export const LONGEST = 600;

/** The member `hoba` of a space. */
export const hobaSettings = z
  .strictObject({
    maxAge: seconds(0, LONGEST)
      .default(60)
      .describe('signatures over one challenge are taken for so long; 0: a single one'),
  })
  .prefault({});

export type HobaSettings = z.infer<typeof hobaSettings>;
