import type { SchemaName } from './schemas.ts';

const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';

export const SERVERS = {
  authz: 'http://localhost:3000',
  issuer: 'https://localhost:3444',
  resource: 'http://localhost:3001',
} as const;

/** An answer: its meaning, and its content, if there is any. */
export interface Answered {
  readonly when: string;
  readonly type?: string;
  readonly schema?: SchemaName;
}

/** A JSON endpoint, or a related endpoint, with one of its methods. */
export interface Operation {
  readonly server: keyof typeof SERVERS | 'both';
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** How the caller proves who it is. */
  readonly auth: 'none' | 'client' | 'token';
  /** The parameters of the form, or of the query. Those that end in `*` are required. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The media type of the request, unless it is a form. */
  readonly content?: string;
  readonly answers: Readonly<Record<number, Answered>>;
}

const ok = (schema: SchemaName, when: string, type = JSON_TYPE): Answered => ({
  when,
  type,
  schema,
});
const problem = (when: string): Answered => ({ when, type: PROBLEM, schema: 'Problem' });
const oauth = (when: string): Answered => ({ when, type: JSON_TYPE, schema: 'OAuthError' });

const FAILURES = {
  421: problem('The request is for a name that is not ours.'),
  500: problem('A defect; the log has the reason.'),
  503: problem('The store does not answer. Try again.'),
};

/** The answers that every form of OAuth may get. */
const OF_FORMS = {
  401: oauth('`invalid_client`: unknown client, or wrong credentials of the client.'),
  405: problem('Not POST.'),
  413: problem('The form has more than 56 KiB.'),
  421: FAILURES[421],
  429: oauth('`temporarily_unavailable`: too many requests. `Retry-After` says when to try again.'),
  500: oauth('`server_error`: a defect; the log has the reason.'),
  503: oauth('`temporarily_unavailable`: the store does not answer. Try again.'),
};

const BY_TOKEN = {
  400: problem('The request is malformed.'),
  401: problem('No token, or a token that is not accepted. `WWW-Authenticate` says why.'),
  403: problem('The token lacks the scope.'),
  429: problem('Too many requests. `Retry-After` says when to try again.'),
  ...FAILURES,
};

const PUBLIC = {
  304: { when: 'Not changed since the `ETag` that you sent.' },
  412: problem('`If-Match` names another version.'),
  ...FAILURES,
};

const DPOP = 'a DPoP proof (RFC 9449) in the field `DPoP` binds the token to your key';

const HEALTH: readonly Operation[] = [
  {
    server: 'both',
    method: 'get',
    path: '/health/live',
    id: 'live',
    summary: 'Says that the process runs.',
    auth: 'none',
    answers: { 200: ok('Health', 'The process runs.') },
  },
  {
    server: 'both',
    method: 'get',
    path: '/health/ready',
    id: 'ready',
    summary: 'Says whether the server can do its work.',
    auth: 'none',
    parameters: { for: 'Only `reading`: what works on a full disk.' },
    answers: {
      200: ok(
        'Health',
        'The server can do its work, or with `for=reading` what works on a full disk.',
      ),
      400: problem('`for` is not `reading`.'),
      503: problem('The store, or the keys that the server needs, do not answer.'),
    },
  },
];

const metadata = (path: string, id: string): Operation => ({
  server: 'authz',
  method: 'get',
  path,
  id,
  summary: 'Describes the authorization server (RFC 8414, OpenID Connect Discovery 1.0).',
  auth: 'none',
  answers: { 200: ok('AuthorizationServerMetadata', 'The metadata.'), ...PUBLIC },
});

const userinfo = (method: 'get' | 'post'): Operation => ({
  server: 'authz',
  method,
  path: '/userinfo',
  id: `${method}Userinfo`,
  summary: 'Returns the current claims of the person (OpenID Connect Core 1.0 section 5.3).',
  auth: 'token',
  answers: { 200: ok('Userinfo', 'The claims that the person has allowed.'), ...BY_TOKEN },
});

const resourceMetadata = (
  server: Operation['server'],
  path: string,
  id: string,
  summary: string,
): Operation => ({
  server,
  method: 'get',
  path: `/.well-known/oauth-protected-resource${path}`,
  id,
  summary,
  auth: 'none',
  answers: {
    200: ok('ProtectedResourceMetadata', 'The metadata.'),
    ...(server === 'resource' && { 404: problem('No space that takes tokens has this path.') }),
    ...PUBLIC,
  },
});

/** All operations, by server. */
export const OPERATIONS: readonly Operation[] = [
  metadata('/.well-known/oauth-authorization-server', 'metadata'),
  metadata('/.well-known/openid-configuration', 'openidConfiguration'),
  {
    server: 'authz',
    method: 'get',
    path: '/jwks',
    id: 'jwks',
    summary: 'Returns the public keys that verify access tokens and ID tokens.',
    auth: 'none',
    answers: { 200: ok('Jwks', 'The keys.', 'application/jwk-set+json'), ...PUBLIC },
  },
  {
    server: 'authz',
    method: 'post',
    path: '/token',
    id: 'token',
    summary: `Issues tokens (RFC 6749 section 3.2); ${DPOP}.`,
    auth: 'client',
    parameters: {
      'grant_type*':
        '`client_credentials`, `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:device_code`',
      scope: 'For `client_credentials` and `refresh_token`.',
      resource: 'The resource that the token is for (RFC 8707).',
      code: 'For `authorization_code`.',
      redirect_uri: 'For `authorization_code`.',
      code_verifier: 'For `authorization_code` (PKCE).',
      refresh_token: 'For `refresh_token`.',
      device_code: 'For the device code.',
    },
    answers: {
      200: ok('TokenAnswer', 'The tokens.'),
      400: oauth(
        '`invalid_request`, `invalid_grant`, `unauthorized_client`, `unsupported_grant_type`, `invalid_scope`, `invalid_target`, `invalid_dpop_proof`, `use_dpop_nonce`; while a device waits `authorization_pending`, `slow_down`, `expired_token`, `access_denied`.',
      ),
      ...OF_FORMS,
    },
  },
  {
    server: 'authz',
    method: 'post',
    path: '/token/introspection',
    id: 'introspect',
    summary: 'Says whether a token is accepted now, and for what (RFC 7662).',
    auth: 'client',
    parameters: { 'token*': 'The token.', token_type_hint: '`access_token` or `refresh_token`.' },
    answers: {
      200: ok('Introspection', 'Also for a token that is unknown: `{"active":false}`.'),
      400: oauth('`invalid_request`.'),
      ...OF_FORMS,
    },
  },
  {
    server: 'authz',
    method: 'post',
    path: '/token/revocation',
    id: 'revoke',
    summary: 'Revokes a token (RFC 7009).',
    auth: 'client',
    parameters: { 'token*': 'The token.', token_type_hint: '`access_token` or `refresh_token`.' },
    answers: {
      200: { when: 'The token is refused by the next request. An empty object.', type: JSON_TYPE },
      400: oauth('`invalid_request`, or `unauthorized_client`: the token is of another client.'),
      ...OF_FORMS,
    },
  },
  {
    server: 'authz',
    method: 'post',
    path: '/request',
    id: 'pushRequest',
    summary: 'Takes an authorization request in advance (RFC 9126).',
    auth: 'client',
    parameters: {
      'response_type*': '`code`',
      redirect_uri: 'A registered one.',
      scope: 'The scopes.',
      state: 'Comes back with the code.',
      code_challenge: 'PKCE.',
      code_challenge_method: '`S256`',
      resource: 'The resource (RFC 8707).',
      nonce: 'For the ID token.',
      dpop_jkt: 'Binds the code to a key (RFC 9449 section 10).',
    },
    answers: {
      201: ok('PushedRequest', 'The request is kept.'),
      400: oauth('`invalid_request`, `invalid_scope`, `invalid_target`, `unauthorized_client`.'),
      ...OF_FORMS,
    },
  },
  {
    server: 'authz',
    method: 'post',
    path: '/device/auth',
    id: 'deviceAuthorization',
    summary: 'Begins the login of a device (RFC 8628).',
    auth: 'client',
    parameters: { scope: 'The scopes.', resource: 'The resource (RFC 8707).' },
    answers: {
      200: ok('DeviceAuthorization', 'The codes.'),
      400: oauth('`invalid_request`, `invalid_scope`, `invalid_target`, `unauthorized_client`.'),
      ...OF_FORMS,
    },
  },
  userinfo('get'),
  userinfo('post'),
  {
    server: 'authz',
    method: 'get',
    path: '/revocations',
    id: 'revocations',
    summary: 'Tells a server that does not share the store what was revoked.',
    auth: 'token',
    parameters: {
      after: 'The `cursor` of the answer before.',
      wait: 'Seconds for which the answer may wait for news.',
    },
    answers: {
      200: ok('RevocationPage', 'The revocations since `after`.'),
      ...BY_TOKEN,
      403: problem('The token lacks the scope, or is one of a person.'),
      405: problem('Neither GET nor HEAD.'),
    },
  },
  resourceMetadata(
    'authz',
    '/revocations',
    'revocationsMetadata',
    'Describes `/revocations` as a resource (RFC 9728).',
  ),
  resourceMetadata(
    'authz',
    '/admin/api',
    'adminMetadata',
    'Describes `/admin/api` as a resource (RFC 9728).',
  ),
  {
    server: 'issuer',
    method: 'get',
    path: '/.well-known/private-token-issuer-directory',
    id: 'issuerDirectory',
    summary: 'Lists the keys of the token issuer (RFC 9578 section 4).',
    auth: 'none',
    answers: {
      200: ok('TokenIssuerDirectory', 'The keys.', 'application/private-token-issuer-directory'),
      ...PUBLIC,
    },
  },
  {
    server: 'issuer',
    method: 'post',
    path: '/private-token/request',
    id: 'issuePrivateToken',
    summary: 'Signs a blinded token (RFC 9578 sections 5.2 and 6.2). Scope `private-token`.',
    auth: 'token',
    content: 'application/private-token-request',
    answers: {
      200: { when: 'The blind signature.', type: 'application/private-token-response' },
      ...BY_TOKEN,
      413: problem('The content is too long.'),
      415: problem('The content is of another type, or has a content coding.'),
      422: problem('Not a token request of a type in the directory, or no key of that id.'),
    },
  },
  {
    server: 'issuer',
    method: 'post',
    path: '/private-token/verify',
    id: 'verifyPrivateToken',
    summary:
      'Verifies a token of type 1 for a resource server that does not share the store. Scope `private-token:verify`.',
    auth: 'token',
    content: 'application/octet-stream',
    answers: {
      200: ok('Verification', 'Whether the token is valid.'),
      ...BY_TOKEN,
      413: problem('The content is too long.'),
      415: problem('The content is of another type, or has a content coding.'),
      422: problem('Not a token of type 1.'),
    },
  },
  resourceMetadata(
    'issuer',
    '/private-token/request',
    'requestMetadata',
    'Describes `/private-token/request` as a resource (RFC 9728).',
  ),
  resourceMetadata(
    'issuer',
    '/private-token/verify',
    'verifyMetadata',
    'Describes `/private-token/verify` as a resource (RFC 9728).',
  ),
  resourceMetadata(
    'resource',
    '/{space}',
    'resourceMetadata',
    'Describes a space that takes tokens (RFC 9728). Its path follows the well-known one.',
  ),
  {
    server: 'resource',
    method: 'get',
    path: '/.well-known/countersign-gateway/jwks',
    id: 'gatewayJwks',
    summary:
      'Returns the keys that verify the statements of the gateway, where a space makes them.',
    auth: 'none',
    answers: { 200: ok('Jwks', 'The keys.', 'application/jwk-set+json'), ...PUBLIC },
  },
  ...(['/verify', '/verify/browser'] as const).map((path): Operation => ({
    server: 'resource',
    method: 'get',
    path,
    id: path === '/verify' ? 'verify' : 'verifyBrowser',
    summary:
      path === '/verify'
        ? 'Decides whether a request that a proxy holds may enter.'
        : 'Decides the same, with a final answer that may lead a browser to the sign-in page.',
    auth: 'none',
    answers: {
      204: { when: 'It may. The fields `X-Auth-…` say who asks.' },
      ...(path === '/verify/browser' && {
        303: { when: 'To the sign-in page, for a browser.' },
        404: problem('The space is hidden.'),
      }),
      400: problem('The proxy does not describe the request completely.'),
      401: problem('No credentials, or none that are accepted. The answer has the challenges.'),
      403: problem('It may not; or the proxy is not in `trustedProxies`.'),
      429: problem('Too many requests. `Retry-After` says when to try again.'),
      ...FAILURES,
    },
  })),
  ...HEALTH,
];
