import * as z from 'zod';

/** The identifier of a key of an application. */
export const keyId = z
  .string()
  .min(1, 'must be the id of a key')
  .max(256, 'must be the id of a key')
  .describe('the id of the key');
