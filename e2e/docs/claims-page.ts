import {
  ADMIN_READ_SCOPE,
  ADMIN_SCOPE,
  FOLLOW_SCOPE,
  REQUEST_SCOPE,
  VERIFY_SCOPE,
} from '#shared/config/token-spaces.ts';
import { ACRS } from '#shared/people/access/assurance.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { code, GENERATED, table } from './markdown.ts';

type Rows = readonly (readonly [claim: string, meaning: string, ...more: string[]])[];

const WAYS = ACRS.map(code).join(', ');

const ACCESS_TOKEN: Rows = [
  ['iss', 'the issuer', 'always'],
  ['aud', 'the resource, which is the URL of a space', 'always'],
  [
    'sub',
    'the id of the person, which never changes; for an application on its own behalf, its `client_id`',
    'always',
  ],
  ['client_id', 'the application', 'always'],
  ['scope', 'the scopes of the resource that were granted', 'if there are any'],
  ['iat', 'time of issue, in seconds', 'always'],
  ['exp', 'end: `tokens.lifetime` after the issue', 'always'],
  ['jti', 'identifier of the token; it is revoked by this', 'always'],
  ['cnf', '`jkt`: thumbprint of the key that the token is bound to (RFC 9449)', 'with DPoP'],
  ['client_gen', 'generation of the client; it rises when all its tokens are revoked', 'always'],
  ['epoch', 'memory of the store; a token of another memory is refused', 'always'],
  ['grant_id', 'the grant, which is one application in one browser or device', 'of people'],
  [
    'sub_gen',
    'generation of the person; it rises when all their sessions and tokens end',
    'of people',
  ],
  ['openid_scope', 'scopes of OpenID Connect, which userinfo reads', 'of people, if granted'],
  [
    'openid_claims',
    'claims that the request named for userinfo one by one',
    'of people, if granted',
  ],
  ['acr', `how the person signed in: ${WAYS}`, 'of people'],
  ['amr', 'methods of the sign-in (RFC 8176)', 'of people'],
  ['auth_time', 'when the person signed in, in seconds', 'of people'],
];

const ID_TOKEN: Rows = [
  ['iss', 'the issuer', 'always'],
  ['sub', 'the id of the person', 'always'],
  ['aud', 'the `client_id`', 'always'],
  ['iat', 'time of issue', 'always'],
  ['exp', 'end', 'always'],
  ['nonce', 'the nonce of the request', 'if the request had one'],
  ['acr', `how the person signed in: ${WAYS}`, 'always'],
  ['amr', 'methods of the sign-in (RFC 8176)', 'always'],
  ['auth_time', 'when the person signed in', 'always'],
];

const INTROSPECTION: Rows = [
  ['active', '`true` if the token is accepted now; otherwise the answer has nothing else'],
  ['token_type', '`Bearer` or `DPoP`'],
  ['iss', 'as in the token'],
  ['aud', 'as in the token'],
  ['sub', 'as in the token'],
  ['client_id', 'as in the token'],
  ['scope', 'as in the token'],
  ['iat', 'as in the token'],
  ['exp', 'as in the token'],
  ['jti', 'as in the token'],
  ['cnf', 'as in the token'],
  ['acr', 'as in the token'],
  ['amr', 'as in the token'],
  ['auth_time', 'as in the token'],
];

const MEANING: Readonly<Record<string, string>> = {
  name: 'the display name',
  given_name: 'the attribute of this name',
  family_name: 'the attribute of this name',
  middle_name: 'the attribute of this name',
  nickname: 'the attribute of this name',
  preferred_username: 'the name that the person signs in with',
  picture: 'URL of a picture',
  locale: 'language, such as `en-GB`',
  profile: 'the attribute of this name: URL of a page about the person',
  website: 'the attribute of this name: URL of a page of the person',
  gender: 'the attribute of this name',
  birthdate: 'the attribute of this name, such as `2001-12-31`',
  zoneinfo: 'the attribute of this name, such as `Europe/Berlin`',
  updated_at: 'when the profile last changed, in seconds',
  email: 'the first address',
  email_verified: 'whether that address is verified',
  phone_number: 'the attribute of this name, such as `+49 30 1234567`',
  phone_number_verified: '`false` beside a number, since this server confirms no number',
  address:
    'an object with `formatted`, `street_address`, `locality`, `region`, `postal_code` and `country`, each from an attribute such as `address.locality`',
  groups: 'array of names, empty for a person in no group',
};

/** The page of scopes and claims, from the tables that tokens are made by. */
export function claimsPage(): string {
  const rows = (all: Rows) => all.map(([claim, ...rest]) => [code(claim), ...rest]);
  const ofPeople = Object.entries(CLAIMS_OF_SCOPES).flatMap(([scope, claims]) =>
    claims.map((claim) => [code(scope), code(claim), MEANING[claim] ?? '']),
  );
  return [
    GENERATED,
    '# Scopes and claims',
    '',
    'This page lists the scopes that a client can ask for and the claims in access tokens, in ID tokens, at userinfo and in introspection. It is for authors of clients and APIs.',
    '',
    '## Scopes',
    '',
    ...table(
      ['Scope', 'Gives'],
      [
        ['`openid`', 'an ID token, and userinfo'],
        ...Object.entries(CLAIMS_OF_SCOPES).map(([scope, claims]) => [
          code(scope),
          `the ${claims.length > 1 ? 'claims' : 'claim'} ${claims.map(code).join(', ')}`,
        ]),
        [
          '`offline_access`',
          'refresh tokens that outlive the sign-in, if the request has `prompt=consent`, or is of a device (OpenID Connect Core 1.0 section 11). Otherwise, and for a client that may not request it, it is ignored. The answer does not name it, and a refresh may repeat it. A client with the grant refresh_token gets refresh tokens in any case, until the sign-in ends',
        ],
        [
          '`scopes.safe`, `scopes.unsafe` of a space',
          'safe and unsafe methods there; each space names its own ([settings](settings.md#spaces))',
        ],
        [
          '`cache:purge`',
          'PURGE and BAN, in a space with `cache.purge`, unless its `scopes` name another',
        ],
        [code(REQUEST_SCOPE), 'tokens for PrivateToken, at the token issuer'],
        [
          code(VERIFY_SCOPE),
          'verification of these, for resource servers that do not share the store',
        ],
        [
          code(FOLLOW_SCOPE),
          '`GET /revocations`, for servers that do not share the store; only by `client_credentials`',
        ],
        [
          code(ADMIN_SCOPE),
          '`/admin/api`, for administrators: people (`user set NAME --admin`), and machines (`client add --admin`)',
        ],
        [code(ADMIN_READ_SCOPE), 'the same, but only to look'],
      ],
    ),
    '',
    '- A client may ask for the scopes that were given to it with `client add --scope`. A change of these ends no session and no token.',
    '- A request without `scope` asks for the default scopes of the client (RFC 6749 section 3.3).',
    '- A token is for one resource (`resource`, RFC 8707). A client that names none gets the first of its resources that has the scopes.',
    '- Schemes without scopes, such as Basic, get them from `grants` of the space: `{ "everyone": ["documents:read"], "people": { "alice": ["documents:write"] } }`.',
    '',
    '## Claims about a person',
    '',
    ...table(['Scope', 'Claim', 'Meaning'], ofPeople),
    '',
    '- Userinfo and ID tokens have these claims. They are read when a token is issued, and again at each userinfo request.',
    '- An ID token has `email` and `email_verified` only if the request names them in `claims`, or by a rule of the client, such as `--claim email=email` (OpenID Connect Core 1.0 section 5.4).',
    '- The parameter `claims` (section 5.5, at most 4,096 characters) names claims one by one, for `userinfo` or `id_token`. The consent page asks for the scope of each, and the client gets only the named claims. Claims of a scope that the client may not request are ignored.',
    '- In `claims`, `sub` with a value lets only that person in. `acr` with values has the effect of `acr_values`: use one of the two.',
    '- An access token has them if its space lists the scope among its own (`"scopes": { "safe": ["groups"] }`) and the person has allowed it there (RFC 9068 section 2.2.2).',
    '- The rules of a client (`client set --claim`) add claims to its ID tokens, access tokens and userinfo, without a scope: see [what an application learns](../how-to/claims.md).',
    '- A claim without a value is left out. Only `groups` is always there.',
    '- An operator sets them with `user set`. The person sees and allows them on the consent page.',
    '',
    '## Access tokens',
    '',
    'An access token is a JWT with `"typ": "at+jwt"` (RFC 9068), signed with ES256, RS256 or EdDSA (`alg` of the space).',
    '',
    ...table(['Claim', 'Meaning', 'There'], rows(ACCESS_TOKEN)),
    '',
    'Other servers must not read `client_gen`, `epoch`, `sub_gen`, `openid_scope` and `openid_claims` as anything but opaque values.',
    '',
    '## ID tokens',
    '',
    'An ID token is signed with ES256 or RS256 (`client add --id-token-alg`). It has the claims about the person for the scopes that were granted, without the address.',
    '',
    ...table(['Claim', 'Meaning', 'There'], rows(ID_TOKEN)),
    '',
    '## Userinfo',
    '',
    '`GET` or `POST /userinfo` with an access token of a grant with `openid`, for whatever resource, answers `sub` and the claims about the person. Claims that the client may no longer ask for are left out.',
    '',
    '## Introspection',
    '',
    'The client that a token was issued to may introspect it, and so may a client that was registered for its resource (`client add --introspects URL`). A public client may not. Everybody else hears `{"active":false}`.',
    '',
    ...table(['Member', 'Meaning'], rows(INTROSPECTION)),
    '',
  ].join('\n');
}
