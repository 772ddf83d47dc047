import * as z from 'zod';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The name of an existing person, in any form of the name. */
export const personName = z
  .string()
  .min(1, fault(said('reference', { what: 'the name of a person' })))
  .max(256, fault(said('reference', { what: 'the name of a person' })))
  .describe('the name with which the person signs in');
