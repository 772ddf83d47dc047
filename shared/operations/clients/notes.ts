import * as z from 'zod';

/** Notes on a client that was registered or changed. */
export const notes = z
  .array(z.string())
  .exactOptional()
  .describe('in words: scopes that have no effect');
