import * as z from 'zod';

/** Members of a space that are about DPoP. */
export const dpopSettings = {
  nonce: z
    .boolean()
    .default(false)
    .describe('DPoP proofs must carry a nonce of the server (RFC 9449 section 9).'),
};
