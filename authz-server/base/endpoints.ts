import type { Config } from '#shared/config/schema.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { CLIENTS, EVERYBODY, TOKEN_HOLDERS } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';

const FORM = ['POST'];
const BOTH = [...READ, ...FORM];

/** The endpoints of the authorization server; any other path is 404. */
export const ENDPOINTS = {
  '/': { methods: READ },
  '/logo': { methods: READ },
  '/account': { methods: BOTH },
  '/account/end': { methods: READ },
  '/account/activity': { methods: READ },
  '/account/data': { methods: READ },
  '/account/data/file': { methods: READ, limited: true },
  '/account/remove': { methods: BOTH, limited: true },
  '/account/sources': { methods: BOTH, limited: true },
  '/account/address': { methods: BOTH, limited: true },
  '/account/address/:uid': { methods: BOTH, limited: true },
  '/account/key': { methods: BOTH },
  '/account/second-factor': { methods: BOTH, limited: true },
  '/account/password': { methods: BOTH, limited: true },
  '/.well-known/change-password': { methods: READ },
  '/recover': { methods: BOTH, limited: true },
  '/recover/:uid': { methods: BOTH, limited: true },
  '/account/passkeys': { methods: BOTH },
  '/register': { methods: BOTH, limited: true },
  '/register/:uid': { methods: BOTH, limited: true },
  '/admin': { methods: READ },
  '/admin/:uid': { methods: BOTH },
  '/sign-in': { methods: BOTH, limited: true },
  '/sign-in/with/:uid': { methods: READ, limited: true },
  '/sign-in/with/:uid/callback': { methods: READ, limited: true },
  '/sign-in/with/:uid/logout': { methods: FORM, program: true, limited: true },
  '/sign-out': { methods: BOTH },
  '/interaction/:uid': { methods: READ },
  '/interaction/:uid/login': { methods: BOTH, limited: true },
  '/interaction/:uid/account': { methods: BOTH },
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
  '/admin/api/:uid': { methods: BOTH, program: true, limited: true },
  '/gnap': { methods: FORM, program: true, cors: TOKEN_HOLDERS, limited: true },
  '/gnap/continue': {
    methods: ['POST', 'PATCH', 'DELETE'],
    program: true,
    cors: TOKEN_HOLDERS,
    limited: true,
  },
  '/gnap/token/:uid': {
    methods: ['POST', 'DELETE'],
    program: true,
    cors: TOKEN_HOLDERS,
    limited: true,
  },
  '/gnap/introspect': { methods: FORM, program: true, limited: true },
  '/gnap/interact/:uid': { methods: BOTH },
  '/.well-known/gnap-as-rs': { methods: READ, program: true, cors: EVERYBODY },
  '/session/end': { methods: BOTH, limited: true },
  '/session/end/confirm': { methods: FORM },
  '/session/end/success': { methods: READ },
} satisfies Readonly<Record<string, Endpoint>>;

/** A table of endpoints by path, in which `:uid` stands for one segment. */
export type Rows = Readonly<Record<string, Endpoint>>;

/** Matches the paths of GNAP, which exist only if GNAP is configured. */
const OF_GNAP = /^\/(?:gnap|\.well-known\/gnap-as-rs)(?:\/|$)/;

/** The paths of pages that send links by mail, or to which such links lead. */
const OF_MAIL: ReadonlySet<string> = new Set([
  '/account/address',
  '/account/address/:uid',
  '/recover',
]);

/** The row of the page that sends links to register with. */
const OF_REGISTRATION = '/register';

/** The paths of sign-in by sources, and of the page that links their accounts. */
const OF_SOURCES = /^\/(?:sign-in\/with\/|account\/sources$)/;

/** The row of the page on which people delete their own account. */
const OF_REMOVAL = '/account/remove';

/** Returns the endpoints of a configuration. */
export const rowsOf = ({
  gnap,
  mail,
  sources,
  people: { registration, removeThemselves },
}: Pick<Config, 'gnap' | 'mail' | 'sources'> & {
  readonly people: Pick<Config['people'], 'registration' | 'removeThemselves'>;
}): Rows =>
  Object.fromEntries(
    Object.entries(ENDPOINTS).filter(
      ([path]) =>
        (gnap || !OF_GNAP.test(path)) &&
        (mail || !OF_MAIL.has(path)) &&
        (sources.length > 0 || !OF_SOURCES.test(path)) &&
        (registration === 'open' || path !== OF_REGISTRATION) &&
        (removeThemselves || path !== OF_REMOVAL),
    ),
  );

/** Returns the methods that some endpoint handles; any other method gets 501 on every path (RFC 9110 section 9.1). */
export const handledBy = (rows: Rows): ReadonlySet<string> =>
  new Set(['OPTIONS', ...Object.values(rows).flatMap(({ methods }) => methods)]);

/** The methods without GNAP and mail. */
export const HANDLED = handledBy(
  rowsOf({ sources: [], people: { registration: 'off', removeThemselves: false } }),
);

/** Returns a function that finds the endpoint at a normalised path, or undefined if there is none. */
export function lookUpIn(rows: Rows): (path: string) => Endpoint | undefined {
  const exact = new Map(Object.entries(rows).filter(([path]) => !path.includes(':uid')));
  const patterns = Object.entries(rows)
    .filter(([path]) => path.includes(':uid'))
    .map(([path, endpoint]) => ({
      pattern: new RegExp(`^${path.replace(':uid', String.raw`[\w-]{1,64}`)}$`),
      endpoint,
    }));
  return (path) => exact.get(path) ?? patterns.find(({ pattern }) => pattern.test(path))?.endpoint;
}

/** Our endpoints by the last segment that other authorization servers give them. */
const ELSEWHERE: Readonly<Record<string, keyof typeof ENDPOINTS>> = {
  authorize: '/auth',
  authorization: '/auth',
  auth: '/auth',
  token: '/token',
  introspect: '/token/introspection',
  introspection: '/token/introspection',
  revoke: '/token/revocation',
  revocation: '/token/revocation',
  userinfo: '/userinfo',
  par: '/request',
  device_authorization: '/device/auth',
  jwks: '/jwks',
  'jwks.json': '/jwks',
  certs: '/jwks',
  logout: '/session/end',
  endsession: '/session/end',
  end_session: '/session/end',
};

/** Returns the 404 for a path without an endpoint. It names our endpoint if another server has it at such a path. */
export function unknownPath(path: string): HttpError {
  const name = path.toLowerCase().split('/').findLast(Boolean) ?? '';
  const error = notFound();
  if (!Object.hasOwn(ELSEWHERE, name)) return error;
  return new HttpError(
    404,
    `${error.message} Use ${ELSEWHERE[name]}: /.well-known/oauth-authorization-server names all endpoints.`,
  );
}
