import * as z from 'zod';
import { httpsOrigin, origin, seconds } from '#shared/base/members.ts';

/** The setting `privateTokens`: the issuer of tokens for PrivateToken (RFC 9578). */
export const privateTokensSchema = z
  .strictObject({
    issuer: httpsOrigin
      .default('https://localhost:3444')
      .describe(
        'Origin of the token issuer; its host and port are the name of the issuer. If it is the same as `issuer`, a proxy terminates TLS. Otherwise the authorization server terminates TLS at `listen.authzTls`.',
      ),
    url: origin
      .optional()
      .describe(
        'Internal origin at which the resource server reaches the token issuer and the token endpoint. Default: their public origins.',
      ),
    certificate: z.string().min(1).optional().describe('PEM file.'),
    key: z.string().min(1).optional().describe('PEM file.'),
    rotation: seconds(2, 31_536_000)
      .default(604_800)
      .describe('How long the issuer signs with a key before it makes the next one.'),
    overlap: seconds(1, 31_536_000)
      .default(604_800)
      .describe('How long a key stays valid after its successor exists.'),
    maxAge: seconds(1, 86_400)
      .default(3600)
      .describe(
        'How long clients may cache the key directory. A new key is published this long before it is used.',
      ),
    verification: z
      .enum(['issuer', 'store'])
      .default('issuer')
      .describe(
        'How the resource server verifies tokens of type voprf-p384: `issuer` asks the issuer; `store` reads the private keys from the shared store, so the resource server could issue tokens itself.',
      ),
  })
  .optional()
  .describe(
    'Makes the authorization server an issuer of tokens for PrivateToken (RFC 9578). In development a certificate is made if no files are named.',
  );
