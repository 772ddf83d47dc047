import { z } from 'zod';
import { MUTUAL_ALGORITHM_NAMES } from './algorithms.ts';

/** The member `mutual` of a space and of the proxy. */
export const mutualSettings = z
  .strictObject({
    algorithm: z
      .enum(MUTUAL_ALGORITHM_NAMES)
      .default('iso-kam3-ec-p256-sha256')
      .describe('the one that is offered; with another one people need a new password'),
    certificate: z
      .string()
      .min(1)
      .optional()
      .describe('file in PEM: the certificate of a trusted proxy that ends TLS before this server'),
  })
  .prefault({});

export type MutualSettings = z.infer<typeof mutualSettings>;
