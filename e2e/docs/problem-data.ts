type Row = readonly [key: string, when: string, remedy: string];

/** The error statuses of both servers. */
export const STATUSES: readonly Row[] = [
  [
    '400',
    'The request is malformed or ambiguous, or has several sets of credentials',
    'Correct the request. The connection may be closed',
  ],
  [
    '401',
    'The request has no credentials, or the server does not accept them',
    'Read `WWW-Authenticate`, and send credentials of one of its schemes. If your token has expired or was revoked, get a new token',
  ],
  [
    '403',
    'The credentials are valid, but not sufficient: a scope, a group or `allow` is missing. Other causes: an unsafe method from a page of another origin, a missing or wrong API key, a destination that the proxy may not reach',
    'Ask for the scope that the challenge names, or ask the operator',
  ],
  [
    '404',
    'There is nothing at this address, or the resource is hidden from you',
    'Check the path and, if the resource may be hidden, the credentials',
  ],
  ['405', 'The resource does not have this method', 'Use one of the methods in `Allow`'],
  [
    '406',
    'The resource is not available in any type of `Accept`',
    'Request one of the types that the answer names',
  ],
  [
    '407',
    'The forward proxy needs credentials',
    'Read `Proxy-Authenticate`, and send `Proxy-Authorization`',
  ],
  [
    '408',
    'The request arrived too slowly, or a slow client kept a connection for which other clients waited',
    'Send the request again, faster',
  ],
  [
    '409',
    'The request does not fit the state of the resource; for example, the parent collection is missing, a test of a JSON Patch failed, or a key exists already',
    'Make the collection first (MKCOL), or read the document again',
  ],
  ['411', 'The request needs a `Content-Length`', 'Send the length of the content'],
  [
    '412',
    'A condition (`If-Match`, `If`, `Overwrite: F` and others) is not met',
    'Read the resource again, then repeat with its new `ETag`',
  ],
  ['413', 'The content is too long', 'See [Limits](limits.md)'],
  ['414', 'The URL, or a name in the URL, is too long', 'Send a shorter URL'],
  [
    '415',
    'The server does not accept the type or the content coding of the content here',
    'Send one of the types in `Accept`, `Accept-Patch` or `Accept-Query`',
  ],
  ['416', 'The range is outside the content', '`Content-Range` has the length'],
  ['417', 'The field `Expect` has an unknown value', 'Send the request without `Expect`'],
  [
    '421',
    'The field `Host` names another server; or the credentials need a separate HTTP/1.1 connection',
    'Send the request to the right origin. Operators: let the proxy forward `Host`',
  ],
  [
    '422',
    'The content is well-formed, but the server cannot process it',
    'The `detail` says what is wrong',
  ],
  ['423', 'The resource is locked', 'Send the token of the lock in `If`, or wait'],
  ['424', 'Another part of the same request failed', 'Correct that part'],
  ['429', 'Too many requests or attempts', 'Wait for the seconds of `Retry-After`'],
  [
    '431',
    'The header section is too long or has too many fields',
    'Send fewer or shorter fields; see `server.headerBytes` and `server.fields`',
  ],
  ['500', 'A defect', 'The log has the reason in the line with the same `X-Request-Id`. Report it'],
  [
    '501',
    'No resource of this server has this method, or there is no WebSocket at this address',
    'Use another method',
  ],
  [
    '502',
    'The application or destination did not give a usable answer',
    'Repeat the request. Operators find the reason in the log',
  ],
  [
    '503',
    'The server is busy, or the store does not answer',
    'Wait for the seconds of `Retry-After`, then repeat',
  ],
  ['504', 'The application or destination did not answer in time', 'Repeat the request'],
  ['505', 'The version of HTTP is not supported', 'Use HTTP/1.1 or HTTP/2'],
  [
    '507',
    'A quota or the disk is full, or there are too many locks',
    'Delete something, or release locks',
  ],
  [
    '508',
    'The request came back to this server (a loop)',
    'Operators: correct the URL of the application',
  ],
];

/** OAuth errors in content (RFC 6749 section 5.2 and its extensions), or at a redirect URI. */
export const OAUTH_ERRORS: readonly Row[] = [
  ['invalid_request', 'A parameter is missing, repeated or malformed', 'Correct the request'],
  [
    'invalid_client',
    'The client is unknown, or its secret or assertion is wrong',
    'Check the id and the secret (`client secret` makes a new secret), or the audience of the assertion',
  ],
  [
    'invalid_grant',
    'The code or refresh token has expired, was used, was revoked, or belongs to another client, redirect URI, key or code verifier',
    'Let the person sign in again. A code or refresh token that is used twice ends its grant',
  ],
  [
    'unauthorized_client',
    'The client is not registered for this grant, or the token belongs to another client',
    'The grants of a client are set once: register another with `client add --grant`',
  ],
  [
    'invalid_redirect_uri',
    'The authorization request has a redirect URI that the client has not registered. A page says so, since the browser may not go there',
    'Register it: `client set --redirect-uri`',
  ],
  ['unsupported_grant_type', 'The grant is not supported', 'Use one of `grant_types_supported`'],
  ['unsupported_response_type', 'Only `code` is supported', 'Use `response_type=code` with PKCE'],
  [
    'invalid_scope',
    'The client may not ask for this scope at this resource',
    'The description lists the scopes that it may ask for',
  ],
  [
    'invalid_target',
    'The resource is unknown, or the scopes belong to several resources',
    'Name one `resource`; the description lists the resources',
  ],
  [
    'invalid_dpop_proof',
    'The DPoP proof is wrong, too old or used before',
    'Make a new proof for each request, and check the clock',
  ],
  [
    'use_dpop_nonce',
    'The server demands a nonce (`tokens.nonce`, `nonce` of a space), or Redis has forgotten which proofs were used',
    'Repeat with the value of `DPoP-Nonce` in the proof',
  ],
  [
    'invalid_token',
    'At a resource: the token has expired, was revoked, or is for another resource',
    'Get a new token',
  ],
  [
    'insufficient_scope',
    'At a resource: the token lacks a scope',
    'Ask for the scope that the challenge names',
  ],
  [
    'insufficient_user_authentication',
    'At a resource: the person has to sign in again, as `acr_values` and `max_age` of the challenge say',
    'Send the person to sign in with these two parameters',
  ],
  [
    'unmet_authentication_requirements',
    'At a sign-in: the person did not sign in as strongly as `acr_values` or an essential `acr` requires',
    'Ask for less, or let the person set up the required method',
  ],
  [
    'authorization_pending',
    'The person has not decided about the device yet',
    'Ask again after `interval` seconds',
  ],
  ['slow_down', 'The device asks too often', 'Add 5 seconds to the interval'],
  ['expired_token', 'The device code has expired', 'Begin again'],
  ['access_denied', 'The person has refused', 'Nothing'],
  [
    'login_required',
    '`prompt=none`, and no person is signed in',
    'Send the person without `prompt=none`',
  ],
  [
    'consent_required',
    '`prompt=none`, and the person has not allowed this',
    'Send the person without `prompt=none`',
  ],
  [
    'interaction_required',
    '`prompt=none`, and a page is needed',
    'Send the person without `prompt=none`',
  ],
  [
    'temporarily_unavailable',
    '503: the store does not answer. 429: too many requests',
    'Wait for the seconds of `Retry-After`, then repeat. Nothing was used up',
  ],
  ['server_error', 'A defect', 'The log has the reason. Report it'],
];

/** WebDAV's precondition codes (RFC 4918 section 16, RFC 4331 section 6). */
export const CONDITIONS: readonly Row[] = [
  [
    'cannot-modify-protected-property',
    '403, in a multi-status: the server computes this property',
    'Leave it out',
  ],
  [
    'lock-token-matches-request-uri',
    '409 or 412: the token is not of a lock of this resource',
    'Refresh or release the lock at its own address',
  ],
  [
    'lock-token-submitted',
    '423: the resource is locked, and the request has no token of the lock',
    'Send it in `If`',
  ],
  ['no-conflicting-lock', '423: another lock is there', 'Wait'],
  ['no-external-entities', '403: the XML has external entities', 'Send XML without them'],
  [
    'propfind-finite-depth',
    '403: `Depth: infinity` would list too many resources',
    'Send `Depth: 0` or `1`',
  ],
  ['quota-not-exceeded', '507: the quota of the tree is full', 'Delete something'],
  ['sufficient-disk-space', '507: the disk is full', 'Ask the operator'],
];
