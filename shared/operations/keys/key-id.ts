import * as z from 'zod';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

/** The identifier of a key of an application. */
export const keyId = z
  .string()
  .min(1, fault(said('reference', { what: 'the id of a key' })))
  .max(256, fault(said('reference', { what: 'the id of a key' })))
  .describe('the id of the key');
