import type { Config } from '#shared/config/schema.ts';
import { isScopeToken, parseScope } from '#shared/oauth/scope.ts';
import type { ClientRecord } from '#shared/stores/clients.ts';
import { newSecret } from '../secret.ts';
import { type Command, Failure, type Input, type Shell, UsageError } from '../command.ts';
import { readPublicJwks } from '../public-jwks.ts';
import { withStores } from '../with-stores.ts';

const GRANTS = ['client_credentials'];
const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

/** Registers a client (RFC 7591 section 2 names its members). */
export const clientAdd: Command = {
  name: 'client add',
  summary: 'register a client and print its identifier and its secret, which is shown only now',
  options: {
    name: { value: 'NAME', required: true, help: 'what people call it' },
    grant: { value: 'GRANT', required: true, multiple: true, help: GRANTS.join(' or ') },
    scope: { value: '"A B"', help: 'all scopes it may ever ask for' },
    'default-scope': { value: '"A"', help: 'what it gets when it asks for none; default: all' },
    auth: { value: 'METHOD', help: `${METHODS.join(', ')}; default: ${METHODS[0]}` },
    jwks: { value: 'FILE', help: 'its public keys, for private_key_jwt' },
    resource: { value: 'URL', multiple: true, help: 'a space it may name; default: every one' },
    introspects: { value: 'URL', help: 'a space of which it may introspect every token' },
  },
  run: (input, shell) =>
    withStores(shell, async ({ clients }, config) => {
      const { secret, ...client } = await newClient(input, shell, config);
      if (!(await clients.add(client))) throw new Failure('the identifier is taken: try again');
      const credentials = { client_id: client.client_id, ...(secret && { client_secret: secret }) };
      return {
        json: credentials,
        lines: Object.entries(credentials).map(([name, value]) => `${name}: ${value}`),
      };
    }),
};

async function newClient(
  input: Input,
  shell: Shell,
  config: Config,
): Promise<ClientRecord & { secret?: string }> {
  const defaultScope = input.text('default-scope');
  const resources = input.texts('resource');
  const introspects = input.text('introspects');
  const client = {
    client_id: shell.random(16).toString('hex'),
    client_name: clientName(input.text('name') ?? ''),
    grant_types: input.texts('grant').map((grant) => oneOf('--grant', GRANTS, grant)),
    scope: scopes('--scope', input.text('scope') ?? ''),
    ...(defaultScope !== undefined && { default_scope: scopes('--default-scope', defaultScope) }),
    ...(resources.length > 0 && {
      resources: resources.map((url) => spaceUrl(config, '--resource', url)),
    }),
    ...(introspects !== undefined && {
      introspects: spaceUrl(config, '--introspects', introspects),
    }),
    created_at: shell.clock.now(),
  };
  checkScopes(client, config, shell);

  const method = oneOf('--auth', METHODS, input.text('auth') ?? METHODS[0]);
  const file = input.text('jwks');
  if ((method === 'private_key_jwt') !== (file !== undefined)) {
    throw new UsageError('--jwks FILE belongs to --auth private_key_jwt, and the other way round');
  }
  return {
    ...client,
    token_endpoint_auth_method: method,
    ...(file === undefined ? newSecret(shell.random) : { jwks: await readPublicJwks(file) }),
  };
}

function clientName(name: string): string {
  if (!/^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) || name.trim() === '') {
    throw new UsageError('--name must be 1 to 100 characters, none of them invisible');
  }
  return name;
}

function oneOf<T extends string>(option: string, allowed: readonly T[], value: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${option} must be ${allowed.join(' or ')}`);
  return found;
}

function scopes(option: string, value: string): string {
  const tokens = [...parseScope(value)];
  const wrong = tokens.find((token) => !isScopeToken(token));
  if (wrong !== undefined) throw new UsageError(`${option}: "${wrong}" is not a scope`);
  return tokens.join(' ');
}

function spaceUrl(config: Config, option: string, url: string): string {
  return oneOf(
    option,
    config.spaces.map((space) => space.url),
    url,
  );
}

function checkScopes(
  client: Pick<ClientRecord, 'scope' | 'default_scope' | 'introspects'>,
  config: Config,
  shell: Shell,
): void {
  const all = parseScope(client.scope);
  if (all.size === 0 && client.introspects === undefined) {
    throw new UsageError(
      '--scope is missing: without a scope or --introspects it could do nothing',
    );
  }
  const beyond = parseScope(client.default_scope).difference(all);
  if (beyond.size > 0)
    throw new UsageError(`--default-scope is not within --scope: ${[...beyond].join(' ')}`);
  const known = new Set(config.spaces.flatMap((space) => Object.values(space.scopes).flat()));
  const unknown = [...all.difference(known)];
  if (unknown.length > 0) {
    shell.note(
      `Note: no space asks for ${unknown.join(' ')}; they ask for: ${[...known].join(' ')}`,
    );
  }
}
