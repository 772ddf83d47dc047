import * as z from 'zod';

/** Remarks on a client that was made or changed. */
export const notes = z
  .array(z.string())
  .exactOptional()
  .describe('in words: scopes that are of no use');
