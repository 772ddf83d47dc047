import * as z from 'zod';
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
      .describe('Hash algorithms. The server sends a challenge for each, in this order.'),
    qop: z
      .array(z.enum(['auth', 'auth-int']))
      .min(1)
      .default(['auth'])
      .describe('Qualities of protection. `auth-int` also protects the content.'),
    userhash: z.boolean().default(false).describe('Asks clients to send a hash of the user name.'),
  })
  .prefault({})
  .describe('Settings of the scheme Digest.');

export type DigestSettings = z.infer<typeof digestSettings>;
