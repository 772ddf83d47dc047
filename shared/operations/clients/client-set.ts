import * as z from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { endForbidden } from '#shared/people/access/of-client.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { narrows } from '#shared/stores/oauth/use-rules.ts';
import { Conflict, InputError, operation } from '../operation.ts';
import { SPELLINGS } from '../texts.ts';
import { clientId } from './client-id.ts';
import { clientMembers, visibleName } from './client-members.ts';
import { checkRedirects, checkSpaces, refuseContradictions } from './client-rules.ts';
import { checkScopes } from './client-scopes.ts';
import { clientSchema, shownClient } from './client-shown.ts';
import { findClient, isBuiltIn } from './find-client.ts';
import { writeUnlessKeysOfPeople } from './keys-of-client.ts';
import { allNotes, notes } from './notes.ts';
import { publicJwks } from './public-jwks.ts';
import { said } from '#shared/refusals/operations.ts';

/** The optional members of a client, by the options that set them. */
const REMOVABLE = {
  'logo-uri': 'logo_uri',
  'default-scope': 'default_scope',
  'post-logout-redirect-uri': 'post_logout_redirect_uris',
  'logout-url': 'backchannel_logout_uri',
  'start-url': 'start_url',
  pkce: 'pkce',
  profile: 'profile',
  'first-party': 'first_party',
  'allow-group': 'allow_groups',
  'allow-person': 'allow_people',
  acr: 'minimum_acr',
  admin: 'admin',
  origin: 'origins',
  resource: 'resources',
  introspects: 'introspects',
  claim: 'claim_rules',
} as const satisfies Readonly<Record<string, keyof typeof clientMembers>>;

/** The options that can be cleared. */
export const CLEARED = Object.keys(REMOVABLE) as (keyof typeof REMOVABLE)[];

const input = z.strictObject({
  client_id: clientId,
  client_name: visibleName
    .exactOptional()
    .describe('the name of the client that people see')
    .register(SPELLINGS, { option: 'name', value: 'NAME' }),
  ...clientMembers,
  jwks: publicJwks,
  without: z
    .array(z.enum(CLEARED))
    .default([])
    .describe('clear the setting of that option')
    .register(SPELLINGS, { value: 'OPTION' }),
});

type Asked = z.output<typeof input>;

export const setClient = operation({
  name: 'client set',
  summary: 'change settings of a client; settings without an option stay as they are',
  effect: 'changes',
  input,
  operands: ['client_id'],
  output: clientSchema.extend({ notes }),
  check(asked, config) {
    const { client_id: _, without, ...given } = asked;
    const twice = without.find((option) => asked[REMOVABLE[option]] !== undefined);
    if (twice !== undefined) {
      throw new InputError([REMOVABLE[twice]], said('given-to-clear'));
    }
    if (Object.keys(given).length + without.length === 0) {
      throw new InputError([], said('no-setting'));
    }
    checkSpaces(asked, config);
  },
  async run(asked, house) {
    const { stores, config, recorder, clock } = house;
    const { client_id: id } = asked;
    for (;;) {
      const client = await findClient(stores.clients, id);
      if (isBuiltIn(id)) {
        throw new Conflict(said('client-built-in', { client: id }));
      }
      if (client.document !== undefined) {
        throw new Conflict(said('client-of-document', { client: id }));
      }
      const { changed, notes: own } = changedBy(asked, client, config, clock);
      const changing = () => recorder.changing('clients', { kind: 'client.changed', client: id });
      const isChanged = await writeUnlessKeysOfPeople(stores.publicKeys, changed, {
        write: () => changing().replace(changed, client),
        undo: () => changing().replace(client, changed),
      });
      if (isChanged) {
        // A server does the rest if this process ends before.
        if (narrows(changed, client)) await endForbidden(house, id);
        return { ...shownClient(changed), ...(await allNotes(changed, stores, own)) };
      }
    }
  },
});

/** Returns the client after the change, with notes. Throws `InputError` and `Conflict`. */
function changedBy(
  { client_id: id, without, ...given }: Asked,
  client: ClientRecord,
  config: Config,
  clock: Clock,
) {
  if (given.jwks !== undefined && client.jwks === undefined) {
    throw new Conflict(
      said('client-without-keys', { client: id, method: client.token_endpoint_auth_method }),
    );
  }
  const native = client.application_type === 'native';
  checkRedirects(given, native);
  const gone = new Set<string>(without.map((option) => REMOVABLE[option]));
  const members = { ...client, ...given, ...withdrawn(client, given.scope ?? client.scope, clock) };
  const changed = Object.fromEntries(
    Object.entries(members).filter(([member, value]) => !gone.has(member) && value !== false),
  ) as unknown as ClientRecord;
  refuseContradictions(ruled(changed, native));
  return { changed, ...checkScopes(changed, config) };
}

/** Returns a client as if it were registered now: members with default values are absent. */
function ruled(client: ClientRecord, native: boolean) {
  const { token_endpoint_auth_method: method, id_token_signed_response_alg: alg, ...rest } = client;
  const isPublic = method === 'none' && client.gnap === undefined;
  const ofOAuth = client.gnap === undefined && { id_token_signed_response_alg: alg };
  return { ...rest, ...ofOAuth, public: isPublic, native };
}

/** Records the scopes that the client loses: people who allowed them are asked again if the client gets them back. */
export function withdrawn(
  client: ClientRecord,
  scope: string,
  clock: Clock,
): Pick<ClientRecord, 'withdrawn_scopes'> {
  const lost = [...parseScope(client.scope).difference(parseScope(scope))];
  if (lost.length === 0) return {};
  const now = Object.fromEntries(lost.map((one) => [one, clock.now()]));
  return { withdrawn_scopes: { ...client.withdrawn_scopes, ...now } };
}
