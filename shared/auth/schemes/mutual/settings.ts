import * as z from 'zod';
import { MUTUAL_ALGORITHM_NAMES } from './algorithms.ts';

/** The member `mutual` of a space and of the proxy. */
export const mutualSettings = z
  .strictObject({
    algorithm: z
      .enum(MUTUAL_ALGORITHM_NAMES)
      .default('iso-kam3-ec-p256-sha256')
      .describe('Algorithm of the challenge. After a change people need a new password.'),
    certificate: z
      .string()
      .min(1)
      .optional()
      .describe('PEM file: certificate of the trusted proxy that terminates TLS.'),
  })
  .prefault({})
  .describe('Settings of the scheme Mutual.');

export type MutualSettings = z.infer<typeof mutualSettings>;
