import { z } from 'zod';

/** The member `concealed` of a space. */
export const concealedSettings = z
  .strictObject({
    frontend: z
      .boolean()
      .default(false)
      .describe(
        'believes Concealed-Auth-Export of trustedProxies, each of which has to end TLS itself and to write the field over whatever a client sends (RFC 9729 section 6.2)',
      ),
  })
  .prefault({});

export type ConcealedSettings = z.infer<typeof concealedSettings>;
