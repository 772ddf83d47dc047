import * as z from 'zod';

/** The id of a part (`Operation.parts`). An empty one is what a script has whose variable was not set. */
export const partId = z
  .string()
  .min(1, 'must be an id: without any it would mean everything')
  .max(512, 'must be an id of at most 512 characters')
  .exactOptional();
