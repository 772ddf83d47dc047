import * as z from 'zod';

/** The name of a person who is there, in any form of it. */
export const personName = z
  .string()
  .min(1, 'must be the name of a person')
  .max(256, 'must be the name of a person')
  .describe('the name with which the person signs in');
