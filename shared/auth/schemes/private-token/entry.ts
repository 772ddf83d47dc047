import * as z from 'zod';
import { derivedKey } from '#shared/base/derived-key.ts';
import { TOKEN_TYPES, tokenTypeNamed } from '#shared/private-token/token-types.ts';
import type { SchemeEntry, SchemeParts, SchemeSpace } from '../parts/scheme-entry.ts';
import { seconds } from '#shared/base/members.ts';
import { isServerName } from '#shared/private-token/server-name.ts';

const TOKEN_TYPE_NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

/** A host with a port, which defaults to 443 (RFC 9577 section 2.1.1.1). */
const serverName = z.string().refine(isServerName, {
  error: 'must be a server name such as issuer.example or issuer.example:8443',
});

/** The member `privateToken` of a space. */
const privateTokenSettings = z
  .strictObject({
    issuer: serverName
      .optional()
      .describe('Name of the issuer. Default: the issuer of this pair (`privateTokens`).'),
    types: z
      .array(z.enum(TOKEN_TYPE_NAMES))
      .min(1)
      .default(['blind-rsa-2048', 'voprf-p384'])
      .describe('Token types. The server sends a challenge for each, in this order.'),
    window: seconds(10, 2_592_000)
      .optional()
      .describe(
        'Limits a token to this space, and to the window of this length in which the client got the challenge, and the next window. Default: a token is valid at the whole origin until its key retires, so clients can fetch tokens in advance.',
      ),
    origins: z
      .array(serverName)
      .default([])
      .describe(
        'Further origins at which the tokens are valid. The servers of these origins must use the same store.',
      ),
  })
  .prefault({})
  .describe('Settings of the scheme PrivateToken.');

type PrivateTokenSettings = z.infer<typeof privateTokenSettings>;

export const privateTokenEntry = {
  name: 'PrivateToken',
  forPeople: false,
  settings: { privateToken: privateTokenSettings },
  trial: { path: 'private-token' },
  async open({ stores, issuers, redemptions, master, clock }: SchemeParts) {
    const { privateToken } = await import('./private-token.ts');
    const shared = {
      spent: stores.spentTokens,
      limits: stores.limits,
      rate: redemptions,
      windowSecret: derivedKey(master, 'private-token-window'),
      addressSecret: derivedKey(master, 'private-token-address'),
      memory: () => stores.revocations.epoch(false),
      clock,
    };
    return ({
      url,
      privateToken: { issuer, types, window, origins },
    }: SchemeSpace & { readonly privateToken: PrivateTokenSettings }) =>
      privateToken({
        ...shared,
        space: {
          url,
          types: types.map(tokenTypeNamed),
          ...(window !== undefined && { window }),
          origins,
        },
        issuer: issuers(issuer),
      });
  },
} as const satisfies SchemeEntry;
