import type { Config } from '#shared/config/schema.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { InputError } from '../operation.ts';
import type { ClientMembers } from './client-members.ts';
import { DEVICE_CODE, ofPeople } from './grant-types.ts';
import { redirectUriMistake } from '#shared/client-documents/redirect-uri.ts';
import { about, type Words } from '#shared/refusals/words.ts';
import { said } from '#shared/refusals/operations.ts';

/** The members of a client that have rules. */
export interface RuledClient extends Partial<Omit<ClientRecord, 'gnap'>> {
  readonly grant_types: readonly string[];
  /** True if the client has no secret and no key. */
  readonly public?: boolean;
  readonly native?: boolean;
  /** Present if the client is a GNAP client. */
  readonly gnap?: unknown;
  readonly gnap_bearer?: boolean;
}

type Member = keyof RuledClient;

/** Members that have no meaning for a GNAP client. */
const OF_OAUTH: readonly Member[] = [
  'public',
  'token_endpoint_auth_method',
  'jwks',
  'pkce',
  'profile',
  'id_token_signed_response_alg',
  'default_scope',
  'origins',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
];

/** Members that the FAPI 2.0 Security Profile forbids, or needs, with the remedy (sections 5.3.2 and 5.4.1). */
const OF_FAPI: readonly (readonly [Member, wrong: (client: RuledClient) => boolean, Words])[] = [
  [
    'profile',
    ({ token_endpoint_auth_method: method = 'private_key_jwt', jwks }) =>
      jwks === undefined || method !== 'private_key_jwt',
    said('fapi-keys'),
  ],
  ['profile', (client) => grants(client, DEVICE_CODE), said('fapi-device')],
  ['pkce', (client) => omitsPkce(client), said('fapi-pkce')],
  [
    'id_token_signed_response_alg',
    (client) => client.id_token_signed_response_alg === 'RS256',
    said('fapi-id-token'),
  ],
  ['jwks', ({ jwks }) => jwks?.keys.some(({ alg }) => alg === 'RS256') === true, said('fapi-jwk')],
  [
    'redirect_uris',
    (client) =>
      !has(client, 'native') &&
      client.redirect_uris?.some((uri) => uri.startsWith('http:')) === true,
    said('fapi-redirect'),
  ],
];

const omitsPkce = ({ pkce }: RuledClient) => pkce === 'nonce' || pkce === 'off';

const has = (client: RuledClient, member: Member) => {
  const value = client[member];
  return value !== undefined && value !== false;
};

const grants = ({ grant_types: all }: RuledClient, grant: string) => all.includes(grant);

/** Combinations of members that contradict each other, with the remedy. */
const CONTRADICTIONS: readonly (readonly [
  member: Member,
  wrong: (client: RuledClient) => boolean,
  remedy: Words,
])[] = [
  ...OF_OAUTH.map(
    (member) =>
      [
        member,
        (client: RuledClient) => has(client, 'gnap') && has(client, member),
        said('not-of-gnap'),
      ] as const,
  ),
  ...OF_FAPI.map(
    ([member, wrong, remedy]) =>
      [member, (client: RuledClient) => has(client, 'profile') && wrong(client), remedy] as const,
  ),
  [
    'grant_types',
    (client) => has(client, 'gnap') && grants(client, 'refresh_token'),
    said('refresh-of-gnap'),
  ],
  [
    'gnap_bearer',
    (client) => has(client, 'gnap_bearer') && !has(client, 'gnap'),
    said('only-of-gnap'),
  ],
  [
    'public',
    (client) => has(client, 'public') && grants(client, 'client_credentials'),
    said('public-credentials'),
  ],
  [
    'public',
    (client) =>
      has(client, 'public') && (has(client, 'token_endpoint_auth_method') || has(client, 'jwks')),
    said('public-keys'),
  ],
  [
    'introspects',
    (client) => has(client, 'public') && has(client, 'introspects'),
    said('public-introspects'),
  ],
  ['pkce', (client) => has(client, 'public') && omitsPkce(client), said('public-without-pkce')],
  [
    'pkce',
    (client) => !grants(client, 'authorization_code') && has(client, 'pkce'),
    said('only-of-codes'),
  ],
  [
    'first_party',
    (client) => !grants(client, 'authorization_code') && has(client, 'first_party'),
    said('only-of-sign-in'),
  ],
  [
    'first_party',
    (client) => has(client, 'native') && has(client, 'first_party'),
    said('native-first-party'),
  ],
  ...(['allow_groups', 'allow_people', 'minimum_acr'] as const).map(
    (member) =>
      [
        member,
        (client: RuledClient) => !ofPeople(client.grant_types) && has(client, member),
        said('only-of-people'),
      ] as const,
  ),
  [
    'admin',
    (client) => has(client, 'admin') && !grants(client, 'client_credentials'),
    said('only-of-machines'),
  ],
  [
    'grant_types',
    (client) => grants(client, 'refresh_token') && !ofPeople(client.grant_types),
    said('refresh-of-nobody'),
  ],
  [
    'redirect_uris',
    (client) => grants(client, 'authorization_code') && !has(client, 'redirect_uris'),
    said('missing-redirect-uris'),
  ],
  ...(
    ['redirect_uris', 'post_logout_redirect_uris', 'backchannel_logout_uri', 'start_url'] as const
  ).map(
    (member) =>
      [
        member,
        (client: RuledClient) => !grants(client, 'authorization_code') && has(client, member),
        said('only-of-browsers'),
      ] as const,
  ),
];

/** Throws `InputError` if members of a client contradict each other. */
export function refuseContradictions(client: RuledClient): void {
  const found = CONTRADICTIONS.find(([, wrong]) => wrong(client));
  if (found !== undefined) throw new InputError([found[0]], found[2]);
}

/** Throws `InputError` if a member names a space that accepts no tokens. */
export function checkSpaces(asked: ClientMembers, config: Config): void {
  const urls = [...new Set(everyTokenSpace(config).map(({ url }) => url))];
  for (const member of ['resources', 'introspects'] as const) {
    const at = (asked[member] ?? []).findIndex((url) => !urls.includes(url));
    if (at >= 0)
      throw new InputError([member, String(at)], said('choice', { names: urls.join(', ') }));
  }
}

/** Throws `InputError` if a browser must not be redirected to an address, with or without a code. */
export function checkRedirects(asked: ClientMembers, native: boolean): void {
  for (const member of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    for (const [at, uri] of (asked[member] ?? []).entries()) {
      const mistake = redirectUriMistake(uri, native);
      if (mistake !== undefined) throw new InputError([member, String(at)], about(uri, mistake));
    }
  }
}
