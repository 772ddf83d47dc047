/**
 * Decides which scripts of other origins may call an address and read its answers (Fetch Standard, CORS protocol).
 */
import { allow } from '#shared/http/methods.ts';
import type { Answer, Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';

type Origin = string | undefined;

/** The origins whose scripts may call an address. `origin`: the origin of the script, if the request has one. */
export interface Cors {
  /** Fields of the answers of the address. */
  readonly answers: (origin: Origin) => Fields;
  /** Fields of an error that is sent before the address is reached. */
  readonly errors: (origin: Origin) => Fields;
  /** Fields by which a preflight allows the origin; undefined if the origin is not allowed. */
  readonly callers: (origin: Origin) => Fields | undefined;
}

const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';
const EXPOSE = 'Access-Control-Expose-Headers';
const BY_ORIGIN: Fields = { Vary: 'Origin' };

/** Additional fields that scripts may read from endpoints that accept access tokens. */
const OF_TOKENS: Fields = { [EXPOSE]: 'DPoP-Nonce, WWW-Authenticate, Retry-After' };
/** Additional fields that scripts may read from answers of spaces. */
const OF_SPACES = [
  'ETag',
  'Location',
  'Content-Location',
  'Allow',
  'Accept-Query',
  'Accept-Patch',
  'Accept-Ranges',
  'Content-Range',
  'Preference-Applied',
  'DAV',
  'Lock-Token',
  'Mcp-Session-Id',
  'WWW-Authenticate',
  'Authentication-Info',
  'DPoP-Nonce',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'TTL',
].join(', ');

const ANY: Fields = { [ALLOW_ORIGIN]: '*' };
const ANY_AND_WHY: Fields = { ...ANY, ...OF_TOKENS };

/** The rule for addresses without secrets and without sign-in: any origin is allowed. */
export const EVERYBODY: Cors = { answers: () => ANY, errors: () => ANY, callers: () => ANY };

/** Any script may send requests and read refusals, since only the token identifies the client. */
export const TOKEN_HOLDERS: Cors = {
  answers: () => ANY_AND_WHY,
  errors: () => ANY_AND_WHY,
  callers: () => ANY,
};

/** Lets a script read the answer to a request that it sent with credentials. */
export const ALLOW_CREDENTIALS = { 'Access-Control-Allow-Credentials': 'true' } as const;

/**
 * Any script may send requests, but only scripts of the client may read the answers (`readableBy`). `*` would not
 * suffice: keycloak-js sends its requests with credentials, for which `*` allows no script (Fetch Standard, CORS
 * protocol and credentials). These endpoints read no cookie.
 */
export const CLIENTS: Cors = {
  answers: () => BY_ORIGIN,
  errors: () => ({ ...BY_ORIGIN, ...ANY_AND_WHY }),
  callers: (origin = '*') => ({ [ALLOW_ORIGIN]: origin, ...ALLOW_CREDENTIALS }),
};

/** Returns the fields of an answer to a client whose script has this origin; the endpoint reads no cookie. */
export const readableBy = (origin: string): Fields => ({
  [ALLOW_ORIGIN]: origin,
  ...ALLOW_CREDENTIALS,
  ...OF_TOKENS,
});

/**
 * Returns the rule for the origins that a space lists. `credentials`: requests may have credentials that the browser
 * adds automatically.
 */
export function listed({ origins, credentials }: Listed): Cors {
  const own = credentials ? ALLOW_CREDENTIALS : {};
  const each = origins.map((origin) => [origin, { [ALLOW_ORIGIN]: origin, ...own }] as const);
  const callers: ReadonlyMap<Origin, Fields> = new Map(each);
  const readers: ReadonlyMap<Origin, Fields> = new Map(
    each.map(([origin, fields]) => [origin, { ...BY_ORIGIN, ...fields, [EXPOSE]: OF_SPACES }]),
  );
  const others = origins.length === 0 ? {} : BY_ORIGIN;
  const answers = (origin: Origin) => readers.get(origin) ?? others;
  return { answers, errors: answers, callers: (origin) => callers.get(origin) };
}

export interface Listed {
  readonly origins: readonly string[];
  readonly credentials: boolean;
}

/**
 * True for a preflight. An OPTIONS request without these fields is no preflight, and must authenticate like any other
 * request.
 */
export function isPreflight({ method, headers }: AnyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * Answers a preflight with the methods of the address; an origin that is not allowed gets no fields. Each field that
 * the script names is allowed: its meaning is checked at the request itself, and `*` would not include Authorization.
 */
export function preflight(
  cors: Cors,
  { headers }: Pick<AnyRequest, 'headers'>,
  methods: readonly string[],
): Answer {
  const Vary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
  const callers = cors.callers(headers.origin);
  if (callers === undefined) return { status: 204, fields: { Vary } };
  const names = fieldNames(headers['access-control-request-headers'] ?? '');
  return {
    status: 204,
    fields: {
      Vary,
      ...callers,
      // No page can send TRACE (Fetch, section forbidden methods), so it is not listed.
      'Access-Control-Allow-Methods': allow(methods.filter((method) => method !== 'TRACE')),
      ...(names.length > 0 && { 'Access-Control-Allow-Headers': names.join(', ') }),
      'Access-Control-Max-Age': '600',
    },
  };
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Reads the field names of a list; other text is left out. */
const fieldNames = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => NAME.test(name));
