import * as z from 'zod';
import { httpsOrigin, origin, seconds } from '#shared/base/members.ts';

/** The setting `privateTokens`: the issuer of tokens for PrivateToken (RFC 9578). */
export const privateTokensSchema = z
  .strictObject({
    issuer: httpsOrigin
      .default('https://localhost:3444')
      .describe(
        'Origin of the token issuer. Host and port of this origin are the name of the issuer. If this origin equals `issuer`, a proxy must terminate TLS. Otherwise the authorization server terminates TLS at `listen.authzTls`.',
      ),
    url: origin
      .optional()
      .describe(
        'Internal origin at which the resource server reaches the token issuer and the token endpoint. Default: the public origins of both.',
      ),
    certificate: z.string().min(1).optional().describe('PEM file.'),
    key: z.string().min(1).optional().describe('PEM file.'),
    rotation: seconds(2, 31_536_000)
      .default(604_800)
      .describe('How long the issuer signs with a key before the issuer makes the next key.'),
    overlap: seconds(1, 31_536_000)
      .default(604_800)
      .describe('How long a key stays valid after its successor exists.'),
    maxAge: seconds(1, 86_400)
      .default(3600)
      .describe(
        'How long clients may cache the key directory. The issuer publishes a new key this long before its first use.',
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
    'Makes the authorization server an issuer of tokens for PrivateToken (RFC 9578). In development the server makes a certificate if you name no files.',
  );
