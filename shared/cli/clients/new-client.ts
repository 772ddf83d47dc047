import type { Config } from '#shared/config/schema.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import { newSecret } from '#shared/people/client-secret.ts';
import { redirectUriMistake } from '../arguments/redirect-uri.ts';
import { cspSource } from '#shared/pages/csp-source.ts';
import { parseScope } from '#shared/jose/scope.ts';
import {
  ADMIN_READ_SCOPE,
  ADMIN_SCOPE,
  everyTokenSpace,
  gnapSpaces,
  tokenSpaces,
} from '#shared/config/token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { grantTypes, ofPeople } from './client-grants.ts';
import { gnapClient } from './gnap-client.ts';
import { type Input, type Shell, UsageError } from '../arguments/command.ts';
import { visibleName } from '../arguments/visible-name.ts';
import { readPublicJwks } from '../arguments/public-jwks.ts';
import { scopeTokens } from '../arguments/scope-tokens.ts';

/** How a client that is not public proves who it is. */
export const AUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

/** The algorithms for ID tokens; the first is the default of clients (OpenID Connect Registration 1.0 section 2). */
export const ID_TOKEN_ALGS = ['RS256', 'ES256'] as const;

type Proof = Pick<
  ClientRecord,
  'token_endpoint_auth_method' | 'secret_hash' | 'jwks' | 'client_id' | 'gnap'
> & { readonly secret?: string };

/** Scopes of no space: OpenID Connect Core 1.0 sections 3.1.2.1, 5.4 and 11. */
const OF_PEOPLE = ['openid', ...Object.keys(CLAIMS_OF_SCOPES), 'offline_access'];

/** The client that the options of `client add` describe. Throws `UsageError` that says what to do. */
export async function newClient(
  input: Input,
  shell: Shell,
  config: Config,
): Promise<ClientRecord & { secret?: string }> {
  const native = input.flag('native');
  const client = {
    ...(await proof(input, shell)),
    client_name: visibleName('--name', input.text('name') ?? ''),
    grant_types: grantTypes(input),
    scope: '',
    id_token_signed_response_alg: ID_TOKEN_ALGS[0],
    ...clientMembers(input, config, native),
    ...(native && { application_type: 'native' as const }),
    created_at: shell.clock.now(),
  };
  checkScopes(client, config, shell);
  return client;
}

/** The members that options say which a client may be given later, too. Throws `UsageError`. */
export function clientMembers(
  input: Input,
  config: Config,
  native: boolean,
): Partial<ClientRecord> {
  const [name, scope, defaultScope, alg] = ['name', 'scope', 'default-scope', 'id-token-alg'].map(
    input.text,
  );
  const logo = input.text('logo-uri');
  const redirectUri = redirectUriOf(native);
  const resources = each(input, 'resource', spaceUrlOf(config));
  const introspects = each(input, 'introspects', spaceUrlOf(config));
  const redirectUris = each(input, 'redirect-uri', redirectUri);
  const afterLogout = each(input, 'post-logout-redirect-uri', redirectUri);
  const origins = each(input, 'origin', origin);
  return {
    ...(name !== undefined && { client_name: visibleName('--name', name) }),
    ...(logo !== undefined && { logo_uri: pictureUrl('--logo-uri', logo) }),
    ...(scope !== undefined && { scope: scopeTokens('--scope', scope).join(' ') }),
    ...(defaultScope !== undefined && {
      default_scope: scopeTokens('--default-scope', defaultScope).join(' '),
    }),
    ...(resources && { resources }),
    ...(redirectUris && { redirect_uris: redirectUris }),
    ...(afterLogout && { post_logout_redirect_uris: afterLogout }),
    ...(origins && { origins }),
    ...(alg !== undefined && {
      id_token_signed_response_alg: oneOf('--id-token-alg', ID_TOKEN_ALGS, alg),
    }),
    ...(input.flag('without-pkce') && { without_pkce: true }),
    ...(input.flag('first-party') && { first_party: true }),
    ...(input.flag('admin') && { admin: true }),
    ...(introspects && { introspects }),
  };
}

/** The values of an option that may be given several times, each once; undefined: not given. */
function each(
  input: Input,
  option: string,
  check: (option: string, value: string) => string,
): readonly string[] | undefined {
  const values = new Set(input.texts(option).map((value) => check(`--${option}`, value)));
  return values.size === 0 ? undefined : [...values];
}

async function proof(input: Input, shell: Shell): Promise<Proof> {
  const gnapKey = input.text('gnap-key');
  if (gnapKey !== undefined) return gnapClient(gnapKey, input.flag('gnap-bearer'));
  const client_id = shell.random(16).toString('hex');
  if (input.flag('public')) return { client_id, token_endpoint_auth_method: 'none' };
  const method = oneOf('--auth', AUTH_METHODS, input.text('auth') ?? AUTH_METHODS[0]);
  const file = input.text('jwks');
  if ((method === 'private_key_jwt') !== (file !== undefined)) {
    throw new UsageError('--jwks FILE belongs to --auth private_key_jwt, and the other way round');
  }
  return {
    client_id,
    token_endpoint_auth_method: method,
    ...(file === undefined ? newSecret(shell.random) : { jwks: await readPublicJwks(file) }),
  };
}

function oneOf<T extends string>(option: string, allowed: readonly T[], value: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${option} must be ${allowed.join(' or ')}`);
  return found;
}

function spaceUrlOf(config: Config) {
  const urls = [...new Set(everyTokenSpace(config).map(({ url }) => url))];
  return (option: string, url: string): string => oneOf(option, urls, url);
}

function redirectUriOf(native: boolean) {
  return (option: string, uri: string): string => {
    const mistake = redirectUriMistake(uri, native);
    if (mistake !== undefined) throw new UsageError(`${option} ${uri} ${mistake}`);
    return uri;
  };
}

function origin(option: string, value: string): string {
  if (URL.parse(value)?.origin !== value || !/^https?:/.test(value)) {
    throw new UsageError(
      `${option} ${value} must be an origin such as https://app.example, without a path or a slash at the end`,
    );
  }
  return value;
}

function pictureUrl(option: string, value: string): string {
  const url = URL.parse(value);
  const fits = url?.protocol === 'https:' && url.username === '' && url.password === '';
  if (!fits || value.length > 1024 || cspSource(url.href) === undefined) {
    throw new UsageError(
      `${option} must be a URL such as https://app.example/logo.png, of at most 1,024 octets`,
    );
  }
  return url.href;
}

/** Throws `UsageError`; notes scopes that are of no use. */
export function checkScopes(
  client: Pick<
    ClientRecord,
    | 'scope'
    | 'default_scope'
    | 'introspects'
    | 'resources'
    | 'grant_types'
    | 'without_pkce'
    | 'gnap'
    | 'admin'
  >,
  config: Config,
  shell: Shell,
): void {
  const all = parseScope(client.scope);
  const spaces = client.gnap ? gnapSpaces(config) : tokenSpaces(config);
  const open = spaces.filter(({ scopes }) => Object.values(scopes).flat().length === 0);
  const needsNone =
    client.introspects !== undefined || open.some(({ url }) => client.resources?.includes(url));
  if (all.size === 0 && !needsNone) {
    throw new UsageError(
      '--scope is missing: a client needs a scope, --introspects, or the --resource of a space without scopes',
    );
  }
  if (client.without_pkce && !all.has('openid')) {
    throw new UsageError(
      '--without-pkce needs openid in --scope: the nonce of the ID token ties a code to its session instead',
    );
  }
  const beyond = parseScope(client.default_scope).difference(all);
  if (beyond.size > 0)
    throw new UsageError(`--default-scope is not within --scope: ${[...beyond].join(' ')}`);
  const known = new Set(spaces.flatMap((space) => Object.values(space.scopes).flat()));
  const administers = [ADMIN_SCOPE, ADMIN_READ_SCOPE].filter((scope) => all.has(scope));
  if (administers.length > 0 && !client.admin && !ofPeople(client.grant_types)) {
    throw new UsageError(`--scope ${administers.join(' ')} is of administrators: add --admin`);
  }
  const unknown = [
    ...all.difference(known).difference(new Set(ofPeople(client.grant_types) ? OF_PEOPLE : [])),
  ];
  if (unknown.length > 0) {
    shell.note(
      `Note: no space asks for ${unknown.join(' ')}; they ask for: ${[...known].join(' ')}`,
    );
  }
}
