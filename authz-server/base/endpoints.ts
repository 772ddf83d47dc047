import { CLIENTS, EVERYBODY } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';

const FORM = ['POST'];
const BOTH = [...READ, ...FORM];

/** The endpoints of the authorization server; any other path is 404. `:uid` stands for one segment. */
export const ENDPOINTS = {
  '/': { methods: READ },
  '/logo': { methods: READ },
  '/account': { methods: BOTH },
  '/account/end': { methods: READ },
  '/account/key': { methods: BOTH },
  '/sign-in': { methods: BOTH, limited: true },
  '/sign-out': { methods: BOTH },
  '/interaction/:uid': { methods: READ },
  '/interaction/:uid/login': { methods: BOTH, limited: true },
  '/interaction/:uid/consent': { methods: BOTH },
  '/interaction/:uid/abort': { methods: BOTH },
  '/device': { methods: BOTH },
  '/.well-known/oauth-authorization-server': { methods: READ, program: true, cors: EVERYBODY },
  '/.well-known/openid-configuration': { methods: READ, program: true, cors: EVERYBODY },
  '/jwks': { methods: READ, program: true, cors: EVERYBODY },
  '/auth': { methods: BOTH, limited: true },
  '/auth/:uid': { methods: READ },
  '/request': { methods: FORM, program: true, cors: CLIENTS, limited: true },
  '/device/auth': { methods: FORM, program: true, cors: CLIENTS, limited: true },
  '/token': { methods: FORM, program: true, cors: CLIENTS, limited: true },
  '/token/introspection': { methods: FORM, program: true },
  '/token/revocation': { methods: FORM, program: true, cors: CLIENTS },
  '/userinfo': { methods: BOTH, program: true, cors: CLIENTS },
  '/revocations': { methods: READ, program: true },
  '/session/end': { methods: BOTH, limited: true },
  '/session/end/confirm': { methods: FORM },
  '/session/end/success': { methods: READ },
} satisfies Readonly<Record<string, Endpoint>>;

/** The methods that some endpoint handles; any other method is 501 on every path (RFC 9110 section 9.1). */
export const HANDLED: ReadonlySet<string> = new Set([
  'OPTIONS',
  ...Object.values(ENDPOINTS).flatMap(({ methods }) => methods),
]);

const isPattern = ([path]: readonly [string, Endpoint]) => path.includes(':uid');
const EXACT = new Map(Object.entries(ENDPOINTS).filter((entry) => !isPattern(entry)));
const PATTERNS = Object.entries(ENDPOINTS)
  .filter(isPattern)
  .map(([path, endpoint]) => ({
    pattern: new RegExp(`^${path.replace(':uid', String.raw`[\w-]{1,64}`)}$`),
    endpoint,
  }));

/** Returns the endpoint at a normalised path, or undefined if there is none. */
export function endpointAt(path: string): Endpoint | undefined {
  return EXACT.get(path) ?? PATTERNS.find(({ pattern }) => pattern.test(path))?.endpoint;
}
