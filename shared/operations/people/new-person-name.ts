import * as z from 'zod';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The name of a person to be added. */
export const newPersonName = z
  .string()
  .max(256, fault(said('too-long', { most: 64 })))
  .describe('the name with which the person will sign in');

/** Whether a name that another person had before may be given again. */
export const reuseName = z
  .boolean()
  .default(false)
  .describe('accept the name of a person who was removed');
