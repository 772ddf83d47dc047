import { z } from 'zod';
import { negotiateSettings } from '#shared/auth/schemes/negotiate/settings.ts';
import { storeSettings } from '#shared/stores/settings.ts';
import {
  absoluteUrl,
  fractional,
  httpsOrigin,
  networks,
  origin,
  rate,
  seconds,
} from '#shared/base/members.ts';
import { serverSchema } from './server-schema.ts';
import { proxySchema, spaceSchema } from './space-schema.ts';

const address = (port: number) =>
  z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(port),
    })
    .prefault({});

/** The one schema of the pair's configuration file. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  issuer: origin
    .default('http://localhost:3000')
    .describe('public origin of the authorization server'),
  resource: origin
    .default('http://localhost:3001')
    .describe('public origin of the resource server'),
  listen: z
    .strictObject({
      authz: address(3000),
      resource: address(3001),
      resourceTls: address(3443),
      authzTls: address(3444),
      proxy: address(3128),
    })
    .prefault({}),
  tls: z
    .strictObject({
      resource: httpsOrigin
        .default('https://localhost:3443')
        .describe('second public origin of the resource server'),
      certificate: z.string().min(1).optional().describe('file in PEM'),
      key: z.string().min(1).optional().describe('file in PEM'),
    })
    .optional()
    .describe(
      'the resource server over TLS as well, with HTTP/2 or HTTP/1.1: all its spaces a second time; in development without files a certificate is made',
    ),
  privateTokens: z
    .strictObject({
      issuer: httpsOrigin
        .default('https://localhost:3444')
        .describe(
          'origin of the token issuer, whose host and port are the name of the issuer; `issuer` itself where TLS ends before the servers, else the authorization server ends it at listen.authzTls',
        ),
      url: origin
        .optional()
        .describe(
          'origin at which the resource server reaches the issuer and its token endpoint from inside; default: their public origins',
        ),
      certificate: z.string().min(1).optional().describe('file in PEM'),
      key: z.string().min(1).optional().describe('file in PEM'),
      rotation: seconds(2, 31_536_000)
        .default(604_800)
        .describe('from one key of a type to the next'),
      overlap: seconds(1, 31_536_000)
        .default(604_800)
        .describe('a key is still good for so long when the next one is there'),
      maxAge: seconds(1, 86_400)
        .default(3600)
        .describe('the directory may be cached for so long; a new key stands in it as long before'),
      verification: z
        .enum(['issuer', 'store'])
        .default('issuer')
        .describe(
          'how the resource server verifies tokens of type voprf-p384: asks the issuer, or opens its keys in the store, with which it could issue tokens itself',
        ),
    })
    .optional()
    .describe(
      'the authorization server issues tokens for PrivateToken (RFC 9578); in development without files a certificate is made',
    ),
  data: z
    .string()
    .min(1)
    .default('./data')
    .describe('folder of the embedded store, the documents and the master secret'),
  store: storeSettings.default({ kind: 'sqlite' }),
  trustedProxies: networks
    .default([])
    .describe('addresses and networks whose Forwarded fields are believed, counted from the right'),
  tokens: z
    .strictObject({
      lifetime: seconds(10, 86_400).default(600),
      skew: seconds(0, 60).default(5).describe('tolerated difference of clocks'),
      nonce: z
        .boolean()
        .default(false)
        .describe('DPoP proofs at the token endpoint must carry a nonce of the server'),
      direct: z
        .boolean()
        .default(true)
        .describe(
          'client credentials with a secret are answered beside the pipeline of oidc-provider, at half the cost; false: everything goes through it',
        ),
      assertionAudience: z
        .enum(['issuer', 'endpoint'])
        .default('issuer')
        .describe(
          'what a client assertion has to be for: this issuer alone, or, for older clients, a URL of the endpoint instead',
        ),
      refresh: seconds(60, 31_536_000)
        .default(1_209_600)
        .describe('a refresh token that is not used for so long ends'),
      refreshGrace: seconds(0, 300)
        .default(0)
        .describe(
          'for so long a refresh token that was used gives the same successor again, to a client that lost the answer',
        ),
    })
    .prefault({}),
  people: z
    .strictObject({
      session: seconds(60, 31_536_000)
        .default(1_209_600)
        .describe('from signing in to having to sign in again'),
      grant: seconds(60, 31_536_000)
        .default(7_776_000)
        .describe('from allowing an application to being asked again'),
    })
    .prefault({}),
  revocations: z
    .strictObject({
      lease: fractional(0.2, 60)
        .default(2)
        .describe(
          'for so long servers that follow the revocations from elsewhere trust an answer; whoever revokes something waits for them, a quarter longer than this at most',
        ),
      hold: fractional(0.05, 15)
        .default(0.5)
        .describe('an answer that has nothing new for them is held back for so long'),
    })
    .prefault({}),
  device: z
    .strictObject({
      interval: seconds(1, 60).default(5).describe('between two polls of a device'),
      lifetime: seconds(30, 3600).default(600).describe('of a code shown by a device'),
    })
    .prefault({}),
  brand: z
    .strictObject({
      name: z.string().min(1).max(60).default('Countersign').describe('shown on every page'),
      logo: z
        .string()
        .regex(/\.(svg|png)$/, 'must be an .svg or .png file')
        .optional()
        .describe(
          'file of a picture shown beside the name; the resource server shows it if it has at most 32 KiB',
        ),
      color: z
        .string()
        .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #1f5fbf')
        .default('#1f5fbf')
        .describe('of buttons and marks'),
    })
    .prefault({}),
  scopeTexts: z
    .record(z.string(), z.strictObject({ en: z.string().min(1), de: z.string().min(1).optional() }))
    .default({})
    .describe('what a scope allows, in the words of the consent page; by scope, then language'),
  jwks: z
    .strictObject({
      url: absoluteUrl
        .optional()
        .describe('where the RS fetches the keys; default: issuer + /jwks'),
      maxAge: seconds(1, 86_400).default(300),
      cooldown: seconds(1, 3600).default(30).describe('between two fetches for an unknown kid'),
      overlap: seconds(2, 172_800)
        .default(360)
        .describe('from publishing a new key to signing with it'),
    })
    .prefault({}),
  limits: z
    .strictObject({
      client: rate
        .default({ burst: 200, per: 0.02 })
        .describe('token requests of one authenticated client, and its assertions at any endpoint'),
      address: rate.default({ burst: 1000, per: 0.005 }).describe('token requests of one address'),
      visits: rate
        .default({ burst: 500, per: 0.5 })
        .describe(
          'what one address may leave in the store without having shown anything: sign-ins begun, callbacks of sign-ins before applications, and requests and device codes of public clients; and one account of requests for its consent, of revoked tokens and of refresh tokens',
        ),
      allVisits: rate
        .default({ burst: 5000, per: 0.02 })
        .describe('the same of all addresses together'),
      account: rate
        .default({ burst: 10, per: 20 })
        .describe('attempts to sign in with one name, from browsers that never did'),
      signIn: rate
        .default({ burst: 200, per: 0.5 })
        .describe('attempts to sign in from one address'),
      credentials: rate
        .default({ burst: 50, per: 10 })
        .describe(
          'credentials of one account that are looked at by the resource server, from addresses that it was not let in from lately',
        ),
      exchanges: rate
        .default({ burst: 100, per: 1 })
        .describe(
          'key exchanges of Mutual from one address, each of which is remembered for minutes',
        ),
      privateTokens: rate
        .default({ burst: 100, per: 864 })
        .describe('tokens for PrivateToken that one person gets through one client, or a machine'),
      redemptions: rate
        .default({ burst: 200, per: 0.5 })
        .describe('tokens of PrivateToken from one address that the resource server looks at'),
      verifications: rate
        .default({ burst: 1000, per: 0.005 })
        .describe('tokens of PrivateToken that the issuer verifies for one resource server'),
      userCode: rate
        .default({ burst: 10, per: 60 })
        .describe('codes of devices that one person enters'),
    })
    .prefault({}),
  server: serverSchema,
  documents: z
    .strictObject({
      maxBytes: z
        .int()
        .min(1)
        .default(64 * 1024 * 1024)
        .describe('of one document'),
      memory: z
        .int()
        .min(0)
        .default(64 * 1024 * 1024)
        .describe(
          'bytes of content that was read lately, which each process keeps, and a quarter as many of listings and results of queries',
        ),
      quota: z
        .strictObject({
          bytes: z
            .int()
            .min(1)
            .default(10 * 1024 ** 3),
          // All of a tree is moved in one change of the store, which has a deadline.
          properties: z
            .int()
            .min(0)
            .max(16 * 1024 ** 2)
            .default(16 * 1024 ** 2),
          entries: z.int().min(1).max(10_000).default(10_000),
        })
        .prefault({})
        .describe(
          'what one tree may hold: bytes of content and WebDAV properties, of these properties alone, and documents and collections',
        ),
    })
    .prefault({}),
  negotiate: negotiateSettings.optional().describe('Kerberos, for the scheme Negotiate'),
  proxy: proxySchema.optional().describe('the forward proxy; none without this'),
  spaces: z.array(spaceSchema).default([]),
});

export type Config = z.infer<typeof configSchema>;
export type SpaceConfig = Config['spaces'][number];
export type ProxyConfig = NonNullable<Config['proxy']>;
