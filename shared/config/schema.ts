import * as z from 'zod';
import { auditSettings } from '#shared/audit/settings.ts';
import { negotiateSettings } from '#shared/auth/schemes/negotiate/settings.ts';
import { parseRule } from '#shared/client/destinations/destinations.ts';
import { backupSettings } from '#shared/stores/backup/settings.ts';
import { storeSettings } from '#shared/stores/settings.ts';
import {
  absoluteUrl,
  fractional,
  httpsOrigin,
  networks,
  origin,
  seconds,
} from '#shared/base/members.ts';
import { brandSchema } from './brand-schema.ts';
import { limitsSchema } from './limits-schema.ts';
import { mailSchema } from './mail-schema.ts';
import { peopleSchema } from './people-schema.ts';
import { privateTokensSchema } from './private-tokens-schema.ts';
import { securitySchema } from './security-schema.ts';
import { serverSchema } from './server-schema.ts';
import { sourceSchema } from './source-schema.ts';
import { proxySchema, spaceSchema } from './space-schema.ts';

const host = z.string().min(1);
const tcpPort = (port: number) =>
  z.int().min(0).max(65_535).default(port).describe('TCP port. 0 means any free port.');

const place = (port: number) =>
  z.strictObject({
    host: host.default('127.0.0.1').describe('Address or host name at which the server listens.'),
    port: tcpPort(port),
  });

const address = (port: number, whose: string) =>
  z
    .strictObject({
      host: host
        .optional()
        .describe('Address or host name at which the server listens. Default: `listen.host`.'),
      port: tcpPort(port),
    })
    .prefault({})
    .describe(`Listener of ${whose}.`);

/** A host in lower case, or all hosts below one. */
const DOCUMENT_HOST = /^(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/;

function isDestination(entry: string): boolean {
  try {
    parseRule(entry);
    return true;
  } catch {
    return false;
  }
}

/** The one schema of the pair's configuration file. */
export const configSchema = z.strictObject({
  $schema: z
    .string()
    .optional()
    .describe('Path of the JSON Schema, for editors. `config init` writes it.'),
  issuer: origin
    .default('http://localhost:3000')
    .describe(
      'Public origin of the authorization server, and issuer of the tokens. An `issuer` that is not loopback means production.',
    ),
  resource: origin
    .default('http://localhost:3001')
    .describe('Public origin of the resource server.'),
  listen: z
    .strictObject({
      host: host
        .default('127.0.0.1')
        .describe(
          'Address or host name for listeners without their own `host`. It is meant for containers, where the operator decides which clients reach a port. So an address here that is not loopback does not mean production, unlike the `host` of a listener, even if both are the same.',
        ),
      authz: address(3000, 'the authorization server'),
      resource: address(3001, 'the resource server'),
      resourceTls: address(3443, 'the resource server over TLS (only with `tls`)'),
      authzTls: address(
        3444,
        'the token issuer over TLS (only with `privateTokens` whose issuer is not `issuer`)',
      ),
      proxy: place(3128)
        .prefault({})
        .describe('Listener of the forward proxy (only with `proxy`).'),
      metrics: place(9464)
        .optional()
        .describe(
          'Listener for Prometheus, at `/metrics`, for both servers if one `start` runs both. `{}` means the defaults. Without this member there is no such listener. Keep the listener on loopback or in a private network, since it requires no credentials.',
        ),
    })
    .prefault({})
    .describe(
      'Where the servers listen. If you change a port, change `issuer` or `resource`, too.',
    ),
  tls: z
    .strictObject({
      resource: httpsOrigin
        .default('https://localhost:3443')
        .describe('Second public origin of the resource server.'),
      certificate: z.string().min(1).optional().describe('PEM file.'),
      key: z.string().min(1).optional().describe('PEM file.'),
    })
    .optional()
    .describe(
      'Serves the resource server with all its spaces over TLS, too (HTTP/2 and HTTP/1.1). In development the server makes a certificate if you name no files.',
    ),
  privateTokens: privateTokensSchema,
  clients: z
    .strictObject({
      documents: z
        .union([
          z.enum(['off', 'allow']),
          z.strictObject({
            hosts: z
              .array(z.string().regex(DOCUMENT_HOST, 'must be a host or *.HOST'))
              .min(1)
              .describe('Hosts whose documents the server accepts.'),
          }),
        ])
        .optional()
        .describe(
          'Unregistered clients. Their `client_id` is the URL of a document about the client (Client ID Metadata Document). Values: `off`, `allow`, or `hosts` with the accepted hosts of documents. `*.example.com` means every host below example.com. The scopes of such clients are the `documentClients` of the spaces. Default: `allow` in development, `off` in production.',
        ),
    })
    .prefault({}),
  gnap: z
    .strictObject({
      clients: z
        .enum(['registered', 'anybody'])
        .default('registered')
        .describe(
          'Clients that may ask people for access: with `registered` only clients of `client add --gnap-key`, with `anybody` every client with a key. An unregistered client never gets access without a person.',
        ),
      mtls: z
        .boolean()
        .default(false)
        .describe(
          'Accepts client certificates in the field `Client-Cert` (RFC 9440) from `trustedProxies`. Each of these proxies must require and check certificates, and must remove this field from requests of clients.',
        ),
      push: z
        .array(z.string().refine(isDestination, { error: 'must be public:PORT or HOST:PORT' }))
        .default(['public:443'])
        .describe(
          'Where the server may notify a client that a person has decided (finish by push). Write `public:PORT` (any public address), or a name (also `*.example.com`), address or network with a port. Other private and loopback addresses are refused.',
        ),
    })
    .optional()
    .describe('Makes the authorization server a server of GNAP, too (RFC 9635).'),
  data: z
    .string()
    .min(1)
    .default('./data')
    .describe(
      'Folder of the embedded store, the documents and the master secret. A relative path in the configuration file starts at the folder of that file. The default starts at the current folder.',
    ),
  store: storeSettings
    .default({ kind: 'sqlite' })
    .describe(
      'Where the servers keep their state: in the embedded SQLite on one machine, or in PostgreSQL, which several machines can share.',
    ),
  trustedProxies: networks
    .default([])
    .describe(
      'Addresses and networks of your reverse proxies. The servers trust the forwarding fields of these proxies, from right to left. If you name a proxy, the servers refuse Basic in clear text even from programs on this machine. Otherwise a proxy could pass on a password that a client sent in clear text.',
    ),
  tokens: z
    .strictObject({
      lifetime: seconds(10, 86_400).default(600).describe('How long an access token lives.'),
      skew: seconds(0, 60)
        .default(5)
        .describe(
          'Difference between the clocks of two machines that the servers tolerate; for assertions of clients it is at least 10.',
        ),
      nonce: z
        .boolean()
        .default(false)
        .describe(
          'DPoP proofs at the token endpoint must carry a nonce of the server (RFC 9449 section 8).',
        ),
      direct: z
        .boolean()
        .default(true)
        .describe(
          'Answers requests for client credentials without oidc-provider, which halves the CPU time. With `false`, oidc-provider answers these requests, too.',
        ),
      assertionAudience: z
        .enum(['issuer', 'endpoint'])
        .default('issuer')
        .describe(
          'Audience that a client assertion must have: `issuer` accepts only the issuer; `endpoint` also accepts the URL of the endpoint, which older clients send.',
        ),
      refresh: seconds(60, 31_536_000)
        .default(1_209_600)
        .describe('How long an unused refresh token lives.'),
      refreshGrace: seconds(0, 300)
        .default(10)
        .describe(
          'How long a refresh token that was used returns the same successor again, if the successor is unused. Tabs that refresh at the same time need this, and clients that lost the answer. Any other second use revokes the grant. With 0 every second use revokes the grant.',
        ),
    })
    .prefault({})
    .describe('Tokens, and DPoP proofs at the token endpoint.'),
  people: peopleSchema,
  sources: z
    .array(sourceSchema)
    .max(20)
    .default([])
    .describe(
      'Where people have accounts besides the accounts here, such as an OpenID Provider. People of a source that is no longer listed may not sign in.',
    ),
  revocations: z
    .strictObject({
      lease: fractional(0.2, 60)
        .default(2)
        .describe(
          'How long a server that reads revocations over HTTP (a follower) may trust an answer of the feed. A revocation waits until all followers know it, at most this time and a quarter more.',
        ),
      hold: fractional(0.05, 15)
        .default(0.5)
        .describe(
          'How long the feed of revocations waits for a new revocation before it sends an empty answer.',
        ),
    })
    .prefault({})
    .describe('The feed of revocations, for servers that read the feed over HTTP.'),
  device: z
    .strictObject({
      interval: seconds(1, 60).default(5).describe('Time between two polls of a device.'),
      lifetime: seconds(30, 3600).default(600).describe('How long a device code lives.'),
    })
    .prefault({})
    .describe('The device flow (RFC 8628).'),
  audit: auditSettings,
  backup: backupSettings,
  mail: mailSchema,
  brand: brandSchema,
  security: securitySchema,
  scopeTexts: z
    .record(
      z.string(),
      z.strictObject({
        en: z.string().min(1).describe('In English.'),
        de: z.string().min(1).optional().describe('In German. Default: the English text.'),
      }),
    )
    .default({})
    .describe('Texts of the consent page that say what a scope allows, by scope and language.'),
  jwks: z
    .strictObject({
      url: absoluteUrl
        .optional()
        .describe(
          'URL at which the resource server fetches the keys. Default: `/jwks` of the issuer.',
        ),
      maxAge: seconds(1, 86_400)
        .default(300)
        .describe('How long the resource server uses fetched keys before it fetches them again.'),
      cooldown: seconds(1, 3600)
        .default(30)
        .describe('Shortest time between two fetches that an unknown `kid` causes.'),
      overlap: seconds(2, 172_800)
        .default(360)
        .describe(
          'How long a new key is published before the authorization server signs tokens with the key.',
        ),
    })
    .prefault({})
    .describe('Signing keys: how the resource server fetches them, and how they rotate.'),
  limits: limitsSchema,
  server: serverSchema,
  documents: z
    .strictObject({
      maxBytes: z
        .int()
        .min(1)
        .default(64 * 1024 * 1024)
        .describe('Greatest size of one document, in bytes.'),
      memory: z
        .int()
        .min(0)
        .default(64 * 1024 * 1024)
        .describe(
          'Bytes of recently read content that each process keeps in memory. Listings and query results have a quarter of this number in addition.',
        ),
      quota: z
        .strictObject({
          bytes: z
            .int()
            .min(1)
            .default(10 * 1024 ** 3)
            .describe('Bytes of content and WebDAV properties together.'),
          // One transaction moves a whole tree, and transactions have a deadline.
          properties: z
            .int()
            .min(0)
            .max(16 * 1024 ** 2)
            .default(16 * 1024 ** 2)
            .describe('Bytes of WebDAV properties.'),
          entries: z
            .int()
            .min(1)
            .max(10_000)
            .default(10_000)
            .describe('Documents and collections.'),
        })
        .prefault({})
        .describe('Limits of one tree (the documents of a space, or of one account in a space).'),
    })
    .prefault({})
    .describe('Documents that the resource server stores.'),
  negotiate: negotiateSettings.optional().describe('Kerberos, for the scheme Negotiate.'),
  playground: z
    .boolean()
    .optional()
    .describe(
      'The playground: pages of the resource server at `/schemes/` that send real requests with credentials, and show request and response. The credentials of the playground give access to nothing else. The first visit starts two more processes, which end after ten minutes without a visit. Default: on in development unless a space has the path `/schemes/` or one below `/playground/`, off in production.',
    ),
  proxy: proxySchema
    .optional()
    .describe('The forward proxy. Without this member there is no forward proxy.'),
  spaces: z
    .array(spaceSchema)
    .default([])
    .describe(
      'Protection spaces of the resource server: each URL, what the server serves there, and the clients that may use it.',
    ),
});

export type Config = z.infer<typeof configSchema>;
export type SpaceConfig = Config['spaces'][number];
export type SourceConfig = Config['sources'][number];
export type ProxyConfig = NonNullable<Config['proxy']>;
