import * as z from 'zod';
import { CACHE_METHODS, TOKEN } from '#shared/http/methods.ts';
import type { AuthenticationRule } from '#shared/auth/judge/step-up.ts';
import { LEVELS } from '#shared/jose/acr.ts';
import { absoluteUrl, fieldName, origin, realmName, seconds } from '#shared/base/members.ts';
import {
  type PersonSchemeName,
  PROXY_SETTINGS,
  SCHEMES,
  type SchemeName,
  SPACE_SETTINGS,
} from '#shared/auth/schemes/list.ts';
import { isScopeToken } from '#shared/jose/scope.ts';
import { cacheSchema } from './cache-schema.ts';
import { identitySchema } from './identity-schema.ts';
import { upstreamSchema } from './upstream-schema.ts';

const NAMES = SCHEMES.map(({ name }) => name) as [SchemeName, ...SchemeName[]];
const FOR_PEOPLE = SCHEMES.filter(({ forPeople }) => forPeople).map(({ name }) => name) as [
  PersonSchemeName,
  ...PersonSchemeName[],
];

/** A method in a rule: its name, or `safe` or `unsafe` for all methods of that kind. */
const METHOD = /^(safe|unsafe|[A-Z-]{1,24})$/;

/** A key of `scopes`: a method, a kind of methods, or a tool of an MCP server. */
const NEEDING = /^(safe|unsafe|[A-Z-]{1,24}|tool:[\w./-]{1,128})$/;

const scopeList = z.array(
  z.string().refine(isScopeToken, { error: 'is not a scope-token (RFC 6749 section 3.3)' }),
);

const grants = z
  .strictObject({
    everyone: scopeList.default([]).describe('Scopes of every admitted caller.'),
    anonymous: scopeList.default([]).describe('Scopes of clients that send a PrivateToken.'),
    people: z.record(z.string(), scopeList).default({}).describe('Scopes by name of the person.'),
  })
  .prefault({})
  .describe('Scopes of people who use a scheme without scopes, such as Basic or Digest.');

const named = z.array(z.string().min(1)).default([]);

const allow = z
  .strictObject({
    groups: z
      .array(z.string().min(1).normalize('NFC'))
      .default([])
      .describe('People in these groups.'),
    people: named.describe('People by id.'),
    clients: named.describe('Clients that act without a person, by id.'),
  })
  .refine((lists) => Object.values(lists).some(({ length }) => length > 0), {
    error: 'names nobody: name groups, people or clients, or remove it',
  })
  .describe(
    'The people and clients that may use the space, with any scheme. Default: everybody whom a scheme authenticates.',
  );

const authenticationRule = z
  .strictObject({
    acr: z
      .enum(LEVELS)
      .optional()
      .describe(
        'The weakest sign-in that the space accepts. A passkey is stronger than a second factor.',
      ),
    maxAge: seconds(10, 31_536_000).optional().describe('The greatest age of the sign-in.'),
    methods: z
      .array(z.string().regex(METHOD, 'must be safe, unsafe or a method'))
      .min(1)
      .optional()
      .describe(
        'Methods that need such a sign-in. `safe` and `unsafe` mean all methods of that kind. Default: every method.',
      ),
  })
  .refine(({ acr, maxAge }) => acr !== undefined || maxAge !== undefined, {
    error: 'asks for nothing: name acr or maxAge, or remove it',
  });

const authentication = z
  .union([authenticationRule, z.array(authenticationRule).min(1)])
  .transform((rules): readonly AuthenticationRule[] => [rules].flat())
  .describe(
    'The sign-in that requests need beside valid credentials (RFC 9470): one object, or a list. If several objects of a list name a method, the method needs all of them.',
  );

/**
 * The longest `idle` of a session, in seconds. It is shorter than the time for which revocations are remembered
 * (`CLOCK_MARGIN`), so an unused session ends before its revocation is forgotten.
 */
const LONGEST_IDLE = 259_200;

const signIn = z
  .union([
    z.literal(true),
    z.strictObject({
      idle: seconds(300, LONGEST_IDLE)
        .optional()
        .describe(
          'How long a session stays valid without a request. Default: a day. A session is never valid for longer than `people.session`.',
        ),
      hidden: z
        .boolean()
        .optional()
        .describe(
          'The account page does not list the space among the applications of the people who may use it.',
        ),
    }),
  ])
  .describe(
    'Redirects browsers without credentials to the sign-in page, then gives the browser a session (only with `serves`: `verify` or `upstream`).',
  );

const secondFactor = z
  .literal('not asked')
  .optional()
  .describe(
    'Accepts a password without a second factor (Basic, Digest, SCRAM, Mutual, Negotiate), even from people who have or need a second factor. By default these schemes refuse such people.',
  );

const members = z.strictObject({
  url: absoluteUrl.describe(
    'URL of the space. This URL is also the audience of the tokens for the space (RFC 9728).',
  ),
  realm: realmName.describe('Realm of the challenges.'),
  schemes: z
    .array(z.enum(NAMES))
    .describe(
      'Authentication schemes, in the order of the challenges: strongest first. An empty list (gateway only) leaves authentication to the application.',
    ),
  ...SPACE_SETTINGS,
  grants,
  scopes: z
    .record(z.string().regex(NEEDING, 'safe, unsafe, a method or tool:NAME'), scopeList)
    .default({})
    .describe(
      'Scopes that a request needs, by method. `safe` and `unsafe` mean the other methods of that kind. `tool:NAME` lists the additional scopes for a tool of an MCP server. The gateway checks these scopes (`serves`: `upstream`), or the application does (`verify`).',
    ),
  documentClients: scopeList
    .default([])
    .describe(
      'Scopes that unregistered clients may request from people (`clients.documents`). Default: none. `allow` still applies.',
    ),
  signIn: signIn.optional(),
  identity: identitySchema
    .optional()
    .describe(
      'How the application learns who the caller is (only with `serves`: `verify` or `upstream`).',
    ),
  allow: allow.optional(),
  authentication: authentication.optional(),
  secondFactor,
  hide: z
    .enum(['nothing', 'forbidden', 'everything'])
    .optional()
    .describe(
      'Whether the server hides the space. `forbidden` answers 404 in place of 403. `everything` hides the space from clients without valid credentials (only with the scheme Concealed, where `everything` is the default; RFC 9729 section 6.4).',
    ),
  alg: z
    .enum(['ES256', 'RS256', 'EdDSA'])
    .default('ES256')
    .describe('Algorithm that signs the tokens of this space.'),
  cors: z
    .strictObject({
      origins: z.array(origin).default([]).describe('Origins whose pages may call this space.'),
      credentials: z
        .boolean()
        .default(false)
        .describe(
          'Allows pages of `origins` to send credentials that the browser adds itself, such as a remembered password. Otherwise these pages cannot POST with Basic, Digest or Negotiate.',
        ),
    })
    .prefault({})
    .describe('Which pages of other origins may call the space (CORS).'),
  serves: z
    .enum(['documents', 'identity', 'verify', 'upstream', 'push'])
    .default('documents')
    .describe(
      'What the space serves. `documents`: documents on disk. `identity`: a page about the client. `verify`: nothing, since the application is elsewhere; the application checks tokens itself, or is behind a proxy that sends `GET /verify`. `upstream`: the application behind the gateway. `push`: a push service (RFC 8030).',
    ),
  upstream: upstreamSchema
    .optional()
    .describe('The application behind the space (only with `serves`: `upstream`).'),
  cache: cacheSchema
    .optional()
    .describe(
      'Caches answers of the application (RFC 9111; only with `serves`: `upstream`). Without this member the server caches no answers.',
    ),
  tree: z
    .enum(['shared', 'own'])
    .default('shared')
    .describe(
      '`shared`: all people and clients use one tree of documents. `own`: each person and each client has a separate tree.',
    ),
  methods: z
    .array(z.string().regex(TOKEN, 'must be a method, in upper case'))
    .optional()
    .describe(
      'The only methods that the space accepts. Default: all methods that the space supports. For an application you may name methods that this server does not know.',
    ),
  trace: z
    .strictObject({
      hide: z
        .array(fieldName)
        .default([])
        .describe('Further request fields that the answer leaves out.'),
    })
    .optional()
    .describe('Turns TRACE on. The answer to TRACE is the request without credentials.'),
});

/** The default scopes of PURGE and BAN, in addition to those of other unsafe methods. */
const PURGE_SCOPES = Object.fromEntries(CACHE_METHODS.map((method) => [method, ['cache:purge']]));

/** A protection space. */
export const spaceSchema = members.transform((space) => {
  const isConcealed = space.schemes.join() === 'Concealed' && !space.apiKey.beside;
  return {
    ...space,
    ...(isConcealed && { hide: space.hide ?? 'everything' }),
    ...(space.cache?.purge &&
      space.schemes.length > 0 && { scopes: { ...PURGE_SCOPES, ...space.scopes } }),
  };
});

/** The forward proxy. */
export const proxySchema = z.strictObject({
  realm: realmName.default('proxy').describe('Realm of the challenges.'),
  schemes: z
    .array(z.enum(FOR_PEOPLE))
    .min(1)
    .default(['Digest', 'Basic'])
    .describe('Authentication schemes, in the order of the challenges.'),
  ...PROXY_SETTINGS,
  secondFactor,
  destinations: z
    .array(
      z
        .string()
        .regex(/^(self|public:\d{1,5}|.+:\d{1,5})$/, 'must be self, public:PORT or HOST:PORT'),
    )
    .default(['public:80', 'public:443'])
    .describe(
      'Destinations that clients may reach: `self` (the resource server), `public:PORT` (any public address), or a name (also `*.example.com`), address or network with a port. Other private and loopback addresses are refused.',
    ),
  tunnels: z
    .int()
    .min(1)
    .max(100_000)
    .default(500)
    .describe(
      'Greatest number of open tunnels. One account may use a quarter of the number that other accounts leave free, one address a third.',
    ),
  idle: seconds(1, 86_400)
    .default(120)
    .describe('How long a tunnel stays open without data in either direction.'),
  total: seconds(1, 604_800)
    .default(14_400)
    .describe('Longest time for which a tunnel stays open.'),
  hide: z
    .enum(['everything'])
    .optional()
    .describe(
      '`everything` (only with the scheme Concealed): without valid credentials the proxy port behaves like a port of the resource server.',
    ),
  tls: z
    .strictObject({
      certificate: z.string().min(1).describe('PEM file.'),
      key: z.string().min(1).describe('PEM file.'),
    })
    .optional()
    .describe('Makes the proxy listener use TLS (HTTP/2 or HTTP/1.1).'),
});
