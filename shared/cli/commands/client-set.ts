import type { Clock } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { refuseContradictions } from '../clients/client-grants.ts';
import { shownClient } from '#shared/operations/clients/client-shown.ts';
import { clientLines } from '../clients/client-lines.ts';
import { CLIENT_OPTIONS } from '../clients/client-options.ts';
import { type Command, Failure, type Input, type Shell, UsageError } from '../arguments/command.ts';
import { findClient, isBuiltIn } from '#shared/operations/clients/find-client.ts';
import { refuseKeysOfPeople } from '../clients/keys-of-client.ts';
import { checkScopes, clientMembers } from '../clients/new-client.ts';
import { readPublicJwks } from '../arguments/public-jwks.ts';
import { withStores } from '../stores/with-stores.ts';

/** The members that a client need not have, by the options that say them. */
const REMOVABLE: Readonly<Record<string, keyof ClientRecord>> = {
  'logo-uri': 'logo_uri',
  'default-scope': 'default_scope',
  'post-logout-redirect-uri': 'post_logout_redirect_uris',
  'without-pkce': 'without_pkce',
  'first-party': 'first_party',
  admin: 'admin',
  origin: 'origins',
  resource: 'resources',
  introspects: 'introspects',
};

const CLEARED = Object.keys(REMOVABLE);

export const clientSet: Command = {
  name: 'client set',
  store: 'opens',
  summary: 'change settings of a client; settings without an option stay as they are',
  operands: ['CLIENT'],
  options: {
    name: { value: 'NAME', help: 'its name for people' },
    ...CLIENT_OPTIONS,
    jwks: { value: 'FILE', help: 'its public keys, of private_key_jwt' },
    without: {
      value: 'OPTION',
      multiple: true,
      help: 'clear that option',
    },
  },
  details: [
    `OPTION: ${CLEARED.slice(0, 6).join(', ')},`,
    `${CLEARED.slice(6).join(', ')}.`,
    'The values of an option replace all earlier ones. The grants of a client, its authentication method and --native',
    'cannot change: register another client. Its tokens stay valid until they expire. A scope that you remove is gone',
    'from the next refresh and from UserInfo.',
  ],
  run: (input, shell) =>
    withStores(shell, async ({ clients, publicKeys }, config, recorder) => {
      const [id = ''] = input.operands;
      for (;;) {
        const client = await findClient(clients, id);
        if (isBuiltIn(id)) {
          throw new Failure(`client ${id} is built in: change the configuration instead`);
        }
        const changed = await changedBy(input, shell, config, client);
        await refuseKeysOfPeople(publicKeys, changed);
        const event = { kind: 'client.changed', client: id } as const;
        if (await recorder.changing('clients', event).replace(changed, client)) {
          const json = shownClient(changed);
          return { json, lines: clientLines(json) };
        }
      }
    }),
};

async function changedBy(
  input: Input,
  shell: Shell,
  config: Config,
  client: ClientRecord,
): Promise<ClientRecord> {
  const file = input.text('jwks');
  if (file !== undefined && client.jwks === undefined) {
    throw new UsageError(
      `--jwks: the client authenticates by ${client.token_endpoint_auth_method}, not by private_key_jwt`,
    );
  }
  const given = clientMembers(input, config, client.application_type === 'native');
  const gone = withoutFrom(input);
  if (Object.keys(given).length + gone.size === 0 && file === undefined) {
    throw new UsageError('no setting is given: name at least one option, see --help');
  }
  const members = {
    ...client,
    ...given,
    ...(file !== undefined && { jwks: await readPublicJwks(file) }),
    ...withdrawn(client, given.scope ?? client.scope, shell.clock),
  };
  const changed = Object.fromEntries(
    Object.entries(members).filter(([member]) => !gone.has(member)),
  ) as unknown as ClientRecord;
  refuseContradictions(changed.grant_types, (option) => isGiven(changed, option));
  checkScopes(changed, config, shell);
  return changed;
}

/** Adds the scopes that the client loses: people who allowed them are asked again if it gets them back. */
function withdrawn(
  client: ClientRecord,
  scope: string,
  clock: Clock,
): Pick<ClientRecord, 'withdrawn_scopes'> {
  const lost = [...parseScope(client.scope).difference(parseScope(scope))];
  if (lost.length === 0) return {};
  const now = Object.fromEntries(lost.map((one) => [one, clock.now()]));
  return { withdrawn_scopes: { ...client.withdrawn_scopes, ...now } };
}

function withoutFrom(input: Input): ReadonlySet<string> {
  const members = input.texts('without').map((option) => {
    const member = Object.hasOwn(REMOVABLE, option) ? REMOVABLE[option] : undefined;
    if (member === undefined) {
      throw new UsageError(`--without must be one of ${Object.keys(REMOVABLE).join(', ')}`);
    }
    if (input.flag(option)) {
      throw new UsageError(`give --${option} or --without ${option}, not both`);
    }
    return member;
  });
  return new Set(members);
}

/** Whether a client is as if `client add` had been given that option. */
function isGiven(client: ClientRecord, option: string): boolean {
  const says: Readonly<Record<string, unknown>> = {
    public: client.token_endpoint_auth_method === 'none' && client.gnap === undefined,
    'gnap-key': client.gnap,
    introspects: client.introspects,
    'without-pkce': client.without_pkce,
    'first-party': client.first_party,
    admin: client.admin,
    native: client.application_type === 'native',
    'redirect-uri': client.redirect_uris,
    'post-logout-redirect-uri': client.post_logout_redirect_uris,
  };
  return Boolean(says[option]);
}
