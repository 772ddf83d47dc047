import type { Config } from '#shared/config/schema.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { InputError } from '../operation.ts';
import type { ClientMembers } from './client-members.ts';
import { ofPeople } from './grant-types.ts';
import { redirectUriMistake } from '#shared/client-documents/redirect-uri.ts';

/** The members of a client that rules are about. */
export interface RuledClient extends Partial<Omit<ClientRecord, 'gnap'>> {
  readonly grant_types: readonly string[];
  /** It has no secret and no key. */
  readonly public?: boolean;
  readonly native?: boolean;
  /** It is a client of GNAP. */
  readonly gnap?: unknown;
  readonly gnap_bearer?: boolean;
}

type Member = keyof RuledClient;

/** Members that say nothing about a client of GNAP. */
const OF_OAUTH: readonly Member[] = [
  'public',
  'token_endpoint_auth_method',
  'jwks',
  'without_pkce',
  'id_token_signed_response_alg',
  'default_scope',
  'origins',
  'post_logout_redirect_uris',
];

const has = (client: RuledClient, member: Member) => {
  const value = client[member];
  return value !== undefined && value !== false;
};

const grants = ({ grant_types: all }: RuledClient, grant: string) => all.includes(grant);

/** Members that contradict others, with the remedy. */
const CONTRADICTIONS: readonly (readonly [
  member: Member,
  wrong: (client: RuledClient) => boolean,
  remedy: string,
])[] = [
  ...OF_OAUTH.map(
    (member) =>
      [
        member,
        (client: RuledClient) => has(client, 'gnap') && has(client, member),
        'is not of a client of GNAP, which proves who it is by --gnap-key: leave it out',
      ] as const,
  ),
  [
    'grant_types',
    (client) => has(client, 'gnap') && grants(client, 'refresh_token'),
    'refresh_token is not of a client of GNAP: leave it out',
  ],
  [
    'gnap_bearer',
    (client) => has(client, 'gnap_bearer') && !has(client, 'gnap'),
    'is about clients of GNAP: add --gnap-key',
  ],
  [
    'public',
    (client) => has(client, 'public') && grants(client, 'client_credentials'),
    'means that it has no secret to prove who it is with: leave out --grant client_credentials',
  ],
  [
    'public',
    (client) =>
      has(client, 'public') && (has(client, 'token_endpoint_auth_method') || has(client, 'jwks')),
    'means that it has neither secret nor keys: leave out --auth and --jwks',
  ],
  [
    'introspects',
    (client) => has(client, 'public') && has(client, 'introspects'),
    'needs a client that proves who it is: leave out --public',
  ],
  [
    'without_pkce',
    (client) => has(client, 'public') && has(client, 'without_pkce'),
    'must not be there: without a secret PKCE alone ties a code to the client: leave out --without-pkce',
  ],
  [
    'without_pkce',
    (client) => !grants(client, 'authorization_code') && has(client, 'without_pkce'),
    'is about authorization codes: add --grant authorization_code',
  ],
  [
    'first_party',
    (client) => !grants(client, 'authorization_code') && has(client, 'first_party'),
    'is about sign-in in a browser; the device page always asks: add --grant authorization_code',
  ],
  [
    'first_party',
    (client) => has(client, 'native') && has(client, 'first_party'),
    'must not be there: another program on the machine can pass for a native client (RFC 8252 section 8.6): leave out --native',
  ],
  [
    'admin',
    (client) => has(client, 'admin') && !grants(client, 'client_credentials'),
    'is for a machine, and a person is an administrator by user set NAME --admin: add --grant client_credentials',
  ],
  [
    'grant_types',
    (client) => grants(client, 'refresh_token') && !ofPeople(client.grant_types),
    'refresh_token renews what a person has allowed: add --grant authorization_code or --grant device_code',
  ],
  [
    'redirect_uris',
    (client) => grants(client, 'authorization_code') && !has(client, 'redirect_uris'),
    'is missing: --grant authorization_code sends its code there',
  ],
  ...(['redirect_uris', 'post_logout_redirect_uris'] as const).map(
    (member) =>
      [
        member,
        (client: RuledClient) => !grants(client, 'authorization_code') && has(client, member),
        'is of browsers: add --grant authorization_code',
      ] as const,
  ),
];

/** Throws `InputError` if members of a client do not go together. */
export function refuseContradictions(client: RuledClient): void {
  const found = CONTRADICTIONS.find(([, wrong]) => wrong(client));
  if (found !== undefined) throw new InputError([found[0]], found[2]);
}

/** Throws `InputError` if a member names a space that takes no tokens. */
export function checkSpaces(asked: ClientMembers, config: Config): void {
  const urls = [...new Set(everyTokenSpace(config).map(({ url }) => url))];
  for (const member of ['resources', 'introspects'] as const) {
    const at = (asked[member] ?? []).findIndex((url) => !urls.includes(url));
    if (at >= 0) throw new InputError([member, String(at)], `must be one of ${urls.join(', ')}`);
  }
}

/** Throws `InputError` if the browser may not take a code, or go, to an address. */
export function checkRedirects(asked: ClientMembers, native: boolean): void {
  for (const member of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    for (const [at, uri] of (asked[member] ?? []).entries()) {
      const mistake = redirectUriMistake(uri, native);
      if (mistake !== undefined) throw new InputError([member, String(at)], `${uri} ${mistake}`);
    }
  }
}
