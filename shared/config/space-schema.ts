import { z } from 'zod';
import { CACHE_METHODS, TOKEN } from '#shared/http/methods.ts';
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

const scopeList = z.array(
  z.string().refine(isScopeToken, { error: 'is not a scope-token (RFC 6749 section 3.3)' }),
);

const grants = z
  .strictObject({
    everyone: scopeList.default([]),
    anonymous: scopeList.default([]).describe('who comes with a PrivateToken'),
    people: z.record(z.string(), scopeList).default({}).describe('scopes by name'),
  })
  .prefault({})
  .describe('scopes of people who are let in by a scheme that knows none');

const named = z.array(z.string().min(1)).default([]);

const allow = z
  .strictObject({
    groups: z
      .array(z.string().min(1).normalize('NFC'))
      .default([])
      .describe('people of these groups'),
    people: named.describe('by id'),
    clients: named.describe('applications that come for themselves, by id'),
  })
  .refine((lists) => Object.values(lists).some(({ length }) => length > 0), {
    error: 'names nobody: name groups, people or clients, or remove it',
  })
  .describe('who may enter at all, whatever the scheme; default: whoever a scheme lets in');

/** Shorter than revocations are remembered (`CLOCK_MARGIN`), so that a session which nobody uses outlives none. */
const LONGEST_IDLE = 259_200;

const signIn = z
  .union([
    z.literal(true),
    z.strictObject({
      idle: seconds(300, LONGEST_IDLE).describe('without a request a session ends after so long'),
    }),
  ])
  .describe(
    'browsers without credentials are sent to sign in, and get a session of their own (serves: verify or upstream)',
  );

const members = z.strictObject({
  url: absoluteUrl.describe(
    'identity of the protection space: where it is, and the audience of its tokens (RFC 9728)',
  ),
  realm: realmName,
  schemes: z
    .array(z.enum(NAMES))
    .describe(
      'in the order of the challenges: strongest first; none: the application behind the gateway decides',
    ),
  ...SPACE_SETTINGS,
  grants,
  scopes: z
    .record(z.string().regex(/^(safe|unsafe|[A-Z-]{1,24})$/, 'safe, unsafe or a method'), scopeList)
    .default({})
    .describe(
      'scopes a request needs, by method; `safe` and `unsafe` stand for the methods not named',
    ),
  signIn: signIn.optional(),
  identity: identitySchema
    .optional()
    .describe('how the application reads who was let in (serves: verify or upstream)'),
  allow: allow.optional(),
  hide: z
    .enum(['nothing', 'forbidden', 'everything'])
    .optional()
    .describe(
      'forbidden: 403 becomes 404; everything (Concealed alone, where it is the default): without valid credentials there is no space (RFC 9729 section 6.4)',
    ),
  alg: z
    .enum(['ES256', 'RS256', 'EdDSA'])
    .default('ES256')
    .describe('signs the tokens of this space'),
  cors: z
    .strictObject({
      origins: z.array(origin).default([]).describe('whose pages may call'),
      credentials: z
        .boolean()
        .default(false)
        .describe(
          'also with what the browser sends by itself, such as a remembered password; without it a listed page cannot POST with Basic, Digest or Negotiate',
        ),
    })
    .prefault({}),
  serves: z
    .enum(['documents', 'identity', 'verify', 'upstream'])
    .default('documents')
    .describe(
      'documents on disk, who the client is, nothing but the answers of GET /verify, or the application that is named in upstream',
    ),
  upstream: upstreamSchema.optional().describe('the application, where the space serves it'),
  cache: cacheSchema
    .optional()
    .describe(
      'keeps answers of the application (RFC 9111), where the space serves it; off without this',
    ),
  tree: z
    .enum(['shared', 'own'])
    .default('shared')
    .describe('documents: one tree for all, or one for each person and application'),
  methods: z
    .array(z.string().regex(TOKEN, 'must be a method, in upper case'))
    .optional()
    .describe(
      'the only methods there are; default: all that the space can do; an application may have others than this server',
    ),
  trace: z
    .strictObject({
      hide: z.array(fieldName).default([]).describe('further request fields that are not echoed'),
    })
    .optional()
    .describe('TRACE, which echoes the request without its credentials; off without this'),
});

/** What PURGE and BAN need where nothing else is said: more than other unsafe methods. */
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
  realm: realmName.default('proxy'),
  schemes: z.array(z.enum(FOR_PEOPLE)).min(1).default(['Digest', 'Basic']),
  ...PROXY_SETTINGS,
  destinations: z
    .array(
      z
        .string()
        .regex(/^(self|public:\d{1,5}|.+:\d{1,5})$/, 'must be self, public:PORT or HOST:PORT'),
    )
    .default(['public:80', 'public:443'])
    .describe(
      'what may be reached: `self` (the resource server), `public:PORT` (any public address), a name (also *.example.com), an address or a network, with a port; other private and loopback addresses are refused',
    ),
  tunnels: z
    .int()
    .min(1)
    .max(100_000)
    .default(500)
    .describe(
      'tunnels open at a time; one account may hold a quarter of what others leave, one address a third',
    ),
  idle: seconds(1, 86_400)
    .default(120)
    .describe('a tunnel in which nothing moves for so long ends'),
  total: seconds(1, 604_800).default(14_400).describe('a tunnel ends after so long in any case'),
  hide: z
    .enum(['everything'])
    .optional()
    .describe(
      'everything (Concealed alone): without valid credentials the port answers as that of the resource server',
    ),
  tls: z
    .strictObject({ certificate: z.string().min(1), key: z.string().min(1) })
    .optional()
    .describe('files in PEM: clients speak TLS to the proxy, with HTTP/2 or HTTP/1.1'),
});
