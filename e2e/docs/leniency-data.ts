/**
 * A client's request, octet by octet, and the status of its answer. `{resource}` and `{issuer}` are the
 * servers' origins, `{host}` is the host and port of the server, and `{token}` is an access token for
 * `{resource}/documents/`.
 */
export interface Example {
  readonly to: 'resource' | 'authz';
  /** The request line and the field lines. `Host`, `Connection` and `Content-Length` are added. */
  readonly lines: readonly string[];
  /** One character is one octet. */
  readonly content?: string;
  readonly status: number;
}

/** A test that needs more than one request: its file and its title. */
export type Titled = readonly [file: string, title: string];

/**
 * A request that a standard allows us to refuse, but that we accept because a refusal would protect nobody.
 */
export interface Leniency {
  readonly sends: string;
  /** The sentence of the standard that the request breaks. */
  readonly section: string;
  readonly answer: string;
  /** The behaviour of Apache, Keycloak or a widely used library. */
  readonly others: string;
  readonly clients: string;
  readonly shown: Example | Titled;
}

/** All leniencies, in the order of the page. Each must have a client that needs it. */
export const LENIENCIES: Readonly<Record<string, readonly Leniency[]>> = {
  'Resource server': [
    {
      sends: '`If-None-Match` with a value that is no entity tag',
      section: 'RFC 9110 section 13.1.2: the value is `*` or a list of entity tags',
      answer:
        'Such a value matches nothing, so the server performs the request. Entity tags in the same field still apply. `If-Match` with such a value is not met: 412',
      others: 'Apache: the same',
      clients: 'Joplin (`packages/lib/WebDavApi.ts`)',
      shown: {
        to: 'resource',
        lines: [
          'PUT /documents/joplin.md HTTP/1.1',
          'Authorization: Bearer {token}',
          'Content-Type: application/octet-stream',
          'Cache-Control: no-store',
          'If-None-Match: JoplinIgnore-61825',
          'User-Agent: Joplin/1.0',
        ],
        content: 'a note',
        status: 201,
      },
    },
    {
      sends: '`Destination` with spaces, or with octets of UTF-8 that are not escaped',
      section: 'RFC 4918 section 10.3: a URI, which has neither (RFC 3986 section 2)',
      answer:
        'The server escapes these octets. If the value also has a `%`, the answer is 400, since the `%` could be a part of the name or begin an escape. A value in another encoding is 400, too',
      others: 'Apache: accepts both, and decodes escapes',
      clients: 'git-annex 10',
      shown: [
        'e2e/interop/dav-git-annex.test.ts',
        'git-annex exports a tree, moves files in it, and leaves no temporary file',
      ],
    },
    {
      sends: '`PROPFIND` of XML as `text/plain`, or without a type',
      section: 'RFC 4918 section 8.2: `application/xml` or `text/xml`',
      answer: 'The server reads the content as XML',
      others: 'Apache: the same',
      clients: '`fetch` with a string as content; npm webdav',
      shown: {
        to: 'resource',
        lines: [
          'PROPFIND /documents/ HTTP/1.1',
          'Authorization: Bearer {token}',
          'Content-Type: text/plain;charset=UTF-8',
          'Depth: 0',
        ],
        content: '<propfind xmlns="DAV:"><propname/></propfind>',
        status: 207,
      },
    },
    {
      sends: 'XML of PROPFIND, PROPPATCH or LOCK as `application/x-www-form-urlencoded`',
      section: 'RFC 4918 section 8.2: `application/xml` or `text/xml`',
      answer:
        'The server reads the content as XML; a form is 400. For pages of other origins, these methods need a preflight with any media type',
      others: 'Apache: the same',
      clients: '`curl -X PROPFIND -d`',
      shown: {
        to: 'resource',
        lines: [
          'PROPFIND /documents/ HTTP/1.1',
          'User-Agent: curl/7.88.1',
          'Accept: */*',
          'Authorization: Bearer {token}',
          'Depth: 0',
          'Content-Type: application/x-www-form-urlencoded',
        ],
        content: '<propfind xmlns="DAV:"><propname/></propfind>',
        status: 207,
      },
    },
    {
      sends: '`Lock-Token` without angle brackets',
      section: 'RFC 4918 section 10.5: a Coded-URL',
      answer: 'The lock is removed: 204',
      others: 'sabre/dav: the same. Apache: 400',
      clients: 'npm webdav',
      shown: [
        'e2e/interop/dav-npm-webdav.test.ts',
        'RFC 4918 section 9.10: lock blocks other clients until unlock',
      ],
    },
    {
      sends: 'padding in the parts of a HOBA result',
      section:
        'RFC 7486 section 2: base64url without padding, although its grammar and its example have it',
      answer:
        'The server accepts the padding. A signature with padding and without padding is the same signature, and accepted once',
      others: 'not tried',
      clients: 'clients that follow the example of RFC 7486',
      shown: [
        'shared/auth/schemes/hoba/hoba.test.ts',
        'a signature with padding is a replay of the same signature without padding',
      ],
    },
    {
      sends: 'base64 without its padding in `data` of SCRAM',
      section: 'RFC 4648 section 3.2: base64 has padding, unless the specification says otherwise',
      answer:
        'The server accepts the value. The server refuses a value with only half of the padding',
      others: 'not tried',
      clients: 'Apache HttpClient 5',
      shown: [
        'shared/auth/schemes/scram/scram.test.ts',
        'base64 without padding, as Apache HttpClient sends it, is accepted in all places',
      ],
    },
  ],
  'Authorization server': [
    {
      sends: '`offline_access` in `scope` of a refresh, if the sign-in dropped it',
      section: 'RFC 6749 section 6: no scope that was not granted',
      answer:
        'The server ignores `offline_access`, and the answer names the scopes of the token. Any other scope that was not granted is `invalid_scope`',
      others: 'not tried',
      clients: 'msal-node, Authlib, requests-oauthlib, @badgateway/oauth2-client',
      shown: [
        'authz-server/integration/token/refresh.test.ts',
        'offline_access is ignored if the sign-in did not grant it',
      ],
    },
    {
      sends:
        'a refresh token that was used within `tokens.refreshGrace` (10 s), while its successor is unused',
      section: 'RFC 9700 section 4.14.2: a refresh token that is used again ends the grant',
      answer:
        'The answer has the same successor and a new access token. After this time, or once the successor was used, a second use revokes the grant',
      others: 'Hydra and Okta: the same, if configured',
      clients: 'kubectl, and any application in several tabs or windows',
      shown: [
        'e2e/flows/refresh.test.ts',
        'ten uses at once at two processes get the same successor, and the grant stays valid',
      ],
    },
    {
      sends:
        '`resource` with capitals in scheme or host, with the default port, or with another slash at the end',
      section: 'RFC 8707 section 2: the URI of the resource',
      answer:
        'The server ignores these differences. It compares the rest of the URI octet by octet',
      others: 'not tried',
      clients:
        'MCP clients, which send the URL as a person typed it (MCP 2026-07-28: servers should accept capitals)',
      shown: [
        'authz-server/integration/authorization/resources.test.ts',
        'RFC 8707 section 2: a resource by another spelling of its name',
      ],
    },
    {
      sends: '`audience` without `resource`',
      section: 'RFC 8707 section 2: the parameter is `resource`',
      answer:
        'It is read as `resource`. If no space has this name, the answer is `invalid_target`: nothing is ignored',
      others: 'Auth0 and Hydra: `audience` is their parameter',
      clients: 'applications written for Auth0 or Hydra',
      shown: [
        'authz-server/integration/authorization/resources.test.ts',
        '`audience` in place of `resource`',
      ],
    },
  ],
};
