import * as z from 'zod';
import { seconds } from '#shared/base/members.ts';

/** Longest `maxAge` of a space, in seconds. */
export const LONGEST = 600;

/** The member `hoba` of a space. */
export const hobaSettings = z
  .strictObject({
    maxAge: seconds(0, LONGEST)
      .default(60)
      .describe(
        'How long the server accepts signatures over one challenge. With 0 the server accepts only one signature.',
      ),
  })
  .prefault({})
  .describe('Settings of the scheme HOBA.');

export type HobaSettings = z.infer<typeof hobaSettings>;
