import * as z from 'zod';

/** The member `concealed` of a space. */
export const concealedSettings = z
  .strictObject({
    frontend: z
      .boolean()
      .default(false)
      .describe(
        'Trusts the field Concealed-Auth-Export of `trustedProxies`. Each of them must terminate TLS itself and overwrite the field that a client sends (RFC 9729 section 6.2).',
      ),
  })
  .prefault({})
  .describe('Settings of the scheme Concealed.');

export type ConcealedSettings = z.infer<typeof concealedSettings>;
