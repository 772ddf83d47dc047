import * as z from 'zod';

/** The name of a person to be added. */
export const newPersonName = z
  .string()
  .max(256, 'must be a name of at most 64 characters')
  .describe('the name with which the person will sign in');

/** How a name that somebody had before is given away. */
export const reuseName = z
  .boolean()
  .default(false)
  .describe('accept the name of somebody who was removed');
