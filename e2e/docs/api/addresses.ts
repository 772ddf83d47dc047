import type { ENDPOINTS } from '../../../authz-server/base/endpoints.ts';

/** The addresses of the authorization server, with their purpose. */
export const OF_AUTHZ: Readonly<Record<keyof typeof ENDPOINTS, string>> = {
  '/': 'the home page',
  '/logo': 'the logo of `brand`, 404 without one',
  '/account':
    'where a person is signed in, which applications act in their name; ends each of them',
  '/account/end': 'asks before it ends all sessions, grants and tokens of a person',
  '/account/activity': 'lists what happened in the account of a person',
  '/account/data': 'says what the server keeps about a person',
  '/account/data/file': 'everything that the server keeps about a person, as JSON',
  '/account/remove': 'deletes the own account, where `people.removeThemselves` is true',
  '/account/address': 'sends a link that confirms an e-mail address, where `mail` is configured',
  '/account/address/:uid': 'confirms an address, by such a link',
  '/account/sources':
    'links accounts elsewhere as ways to sign in, and unlinks them, where `sources` has one',
  '/account/key': 'makes the link by which a browser registers a HOBA key',
  '/account/second-factor': 'sets a second factor up, makes new recovery codes, removes it',
  '/account/password': 'changes the password, or sets a first one',
  '/.well-known/change-password':
    'leads there (W3C, A Well-Known URL for Changing Passwords); password managers use it',
  '/recover': 'sends a link for a new password by mail, where `mail` is configured',
  '/recover/:uid': 'sets a password, by a link of `user invite` or `user recover`',
  '/account/passkeys': 'makes, names and removes passkeys',
  '/register': 'sends a link to make an account, where `people.registration` is `open`',
  '/register/:uid': 'makes an account, by such a link, or one of `user invite` or `admin link`',
  '/sign-in': 'signs in; GET leads to `/account`',
  '/sign-in/with/:uid': 'leads to a source of `sources`, at which the person signs in',
  '/sign-in/with/:uid/callback': 'where that source sends the browser back',
  '/sign-in/with/:uid/logout': 'takes a logout token of that source, which ends the sign-ins by it',
  '/sign-out': 'asks, and signs out',
  '/interaction/:uid': 'the sign-in or consent page of one authorization request',
  '/interaction/:uid/login': 'its sign-in form',
  '/interaction/:uid/account': 'its form to choose an account',
  '/interaction/:uid/consent': 'its consent form',
  '/interaction/:uid/abort': 'its "Cancel"',
  '/device': 'the page for the code that a device shows (RFC 8628)',
  '/.well-known/oauth-authorization-server': 'metadata (RFC 8414)',
  '/.well-known/openid-configuration': 'metadata (OpenID Connect Discovery 1.0)',
  '/jwks': 'the public keys of tokens',
  '/auth': 'authorization requests (RFC 6749 section 3.1)',
  '/auth/:uid': 'goes on with one after its pages',
  '/request': 'pushed authorization requests (RFC 9126)',
  '/device/auth': 'device authorization (RFC 8628)',
  '/token': 'issues tokens',
  '/token/introspection': 'introspection (RFC 7662)',
  '/token/revocation': 'revocation (RFC 7009)',
  '/userinfo': 'claims of a person (OpenID Connect Core 1.0 section 5.3)',
  '/revocations': 'what was revoked, for servers that do not share the store',
  '/admin': 'where administrators begin',
  '/admin/:uid': 'shows an operation to an administrator, and does it',
  '/admin/api/:uid': 'does an operation for an administrator (openapi.json lists them)',
  '/gnap': 'asks for access by GNAP (RFC 9635); OPTIONS is discovery',
  '/gnap/continue': 'goes on with such a request, changes or ends it',
  '/gnap/token/:uid': 'issues an access token of GNAP again, or revokes it',
  '/gnap/introspect': 'tells resource servers about access tokens of GNAP (RFC 9767)',
  '/gnap/interact/:uid': 'the page on which a person decides about such a request',
  '/.well-known/gnap-as-rs': 'describes GNAP for resource servers (RFC 9767)',
  '/session/end': 'an application signs a person out (OpenID Connect RP-Initiated Logout 1.0)',
  '/session/end/confirm': 'its form',
  '/session/end/success': 'its end',
};

type Address = readonly [path: string, methods: string, purpose: string];

/** The addresses that both servers have. */
export const OF_BOTH: readonly Address[] = [
  ['/health/live', 'GET, HEAD', 'the process runs'],
  [
    '/health/ready',
    'GET, HEAD',
    'the server can do its work, else 503; with `?for=reading` what works on a full disk',
  ],
  ['/.well-known/security.txt', 'GET, HEAD', 'contacts for reports (RFC 9116, `security`)'],
];

/** The addresses of the authorization server outside its table. */
export const BESIDE: readonly Address[] = [
  [
    '/.well-known/oauth-protected-resource/revocations',
    'GET, HEAD',
    'describes `/revocations` (RFC 9728)',
  ],
  [
    '/.well-known/oauth-protected-resource/admin/api',
    'GET, HEAD',
    'describes `/admin/api` (RFC 9728)',
  ],
];

export const OF_ISSUER: readonly Address[] = [
  ['/.well-known/private-token-issuer-directory', 'GET, HEAD', 'the keys (RFC 9578 section 4)'],
  ['/private-token/request', 'POST', 'issues blind signatures; scope `private-token`'],
  ['/private-token/verify', 'POST', 'verifies tokens of type 1; scope `private-token:verify`'],
  [
    '/.well-known/oauth-protected-resource/private-token/request',
    'GET, HEAD',
    'describes the former as a resource',
  ],
  [
    '/.well-known/oauth-protected-resource/private-token/verify',
    'GET, HEAD',
    'describes the latter as a resource',
  ],
];

/** The addresses of the resource server outside its spaces. */
export const OF_RESOURCE: readonly Address[] = [
  ['/', 'GET, HEAD', 'the home page, if no space has this address'],
  ['/schemes', 'GET, HEAD', 'leads to `/schemes/`'],
  ['/schemes/', 'GET, HEAD', 'lists the exchanges of the playground (`playground`)'],
  [
    '/playground/explain',
    'GET, HEAD, POST',
    'page that explains a token, a proof, a challenge, credentials or a field',
  ],
  ['/playground/<exchange>', 'GET, HEAD, POST', 'page that performs one of these exchanges'],
  [
    '/verify',
    'GET, HEAD',
    'forward authentication for a proxy of `trustedProxies`: 204, 401 or 403',
  ],
  ['/verify/browser', 'GET, HEAD', 'the same; the answer is final and leads browsers to sign in'],
  ['/.countersign/callback', 'GET, HEAD', 'end of a sign-in before an application'],
  ['/.countersign/sign-out', 'GET, HEAD, POST', 'ends the session at an application'],
  [
    '/.well-known/oauth-protected-resource/<space>',
    'GET, HEAD',
    'describes a space that takes tokens (RFC 9728); without `<space>`, the only such space',
  ],
  [
    '/.well-known/countersign-gateway/jwks',
    'GET, HEAD',
    'keys of the statements of the gateway, where a space makes them',
  ],
  ['/.well-known/hoba/key', 'GET, HEAD', 'page that makes a key for HOBA in the browser'],
  ['/.well-known/hoba/register', 'POST', 'registers a HOBA key'],
  ['/.well-known/hoba/getchal', 'POST', 'a fresh challenge of HOBA'],
  ['/.well-known/hoba/logout', 'POST', 'signs a HOBA key out'],
];
