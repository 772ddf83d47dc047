import * as z from 'zod';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The id of a part (`Operation.parts`). It must not be empty, as in a script whose variable is not set. */
export const partId = z
  .string()
  .min(1, fault(said('empty-part')))
  .max(512, fault(said('too-long', { most: 512 })))
  .exactOptional();
