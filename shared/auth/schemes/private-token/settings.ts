import * as z from 'zod';
import { seconds } from '#shared/base/members.ts';
import { isServerName } from '#shared/private-token/server-name.ts';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';

const TOKEN_TYPE_NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

/** A host with a port, which is 443 where it is missing (RFC 9577 section 2.1.1.1). */
const serverName = z.string().refine(isServerName, {
  error: 'must be a server name such as issuer.example or issuer.example:8443',
});

/** The member `privateToken` of a space. */
export const privateTokenSettings = z
  .strictObject({
    issuer: serverName
      .optional()
      .describe('Name of the issuer. Default: the issuer of this pair (`privateTokens`).'),
    types: z
      .array(z.enum(TOKEN_TYPE_NAMES))
      .min(1)
      .default(['blind-rsa-2048', 'voprf-p384'])
      .describe('Token types; one challenge for each, in this order.'),
    window: seconds(10, 2_592_000)
      .optional()
      .describe(
        'A token is valid in one window of this length and the next, in this space only. Default: valid at the whole origin until its key retires, so clients can fetch tokens in advance.',
      ),
    origins: z
      .array(serverName)
      .default([])
      .describe('Further origins at which the tokens are valid. They must share this store.'),
  })
  .prefault({})
  .describe('Settings of the scheme PrivateToken.');

export type PrivateTokenSettings = z.infer<typeof privateTokenSettings>;
