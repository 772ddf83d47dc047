import { z } from 'zod';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';

/** The member `digest` of a space and of the proxy. */
export const digestSettings = z
  .strictObject({
    algorithms: z
      .array(
        z.enum(Object.keys(DIGEST_ALGORITHMS) as [DigestAlgorithmName, ...DigestAlgorithmName[]]),
      )
      .min(1)
      .default(['SHA-256'])
      .describe('a challenge for each, in this order'),
    qop: z
      .array(z.enum(['auth', 'auth-int']))
      .min(1)
      .default(['auth'])
      .describe('auth-int protects the content as well'),
    userhash: z.boolean().default(false).describe('ask clients to send a hash of the name'),
  })
  .prefault({});

export type DigestSettings = z.infer<typeof digestSettings>;
