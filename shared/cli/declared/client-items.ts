import { isDeepStrictEqual } from 'node:util';
import type { House } from '#shared/operations/operation.ts';
import { clearClient } from '#shared/people/access/of-client.ts';
import { Conflict } from '#shared/operations/operation.ts';
import { retireClient } from '#shared/operations/clients/client-remove.ts';
import { endForbidden } from '#shared/people/access/of-client.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { narrows } from '#shared/stores/oauth/use-rules.ts';
import { Failure } from '../arguments/command.ts';
import {
  refuseKeysOfPeople,
  writeUnlessKeysOfPeople,
} from '#shared/operations/clients/keys-of-client.ts';
import { withdrawn } from '#shared/operations/clients/client-set.ts';
import type { WantedClient } from './wanted.ts';
import { differences, type Item, type Step } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/** Members that cannot be changed: the operator has to register another client. */
const FIXED = ['grant_types', 'token_endpoint_auth_method', 'application_type', 'gnap'] as const;

/** The members that a file declares. */
function declaredOf(client: Partial<ClientRecord>) {
  const { client_id: _, created_at: __, demo: ___, former_secret: ____, ...declared } = client;
  const { withdrawn_scopes: _____, ...members } = declared;
  return members;
}

/** Returns a client in the form of the file. A GNAP client has no member for ID tokens. */
export function declaredClient(client: ClientRecord) {
  const { id_token_signed_response_alg: alg, ...members } = declaredOf(client);
  const { client_id } = client;
  return {
    client_id,
    ...members,
    ...(client.gnap === undefined && { id_token_signed_response_alg: alg }),
  };
}

export const clientItem = (wanted: WantedClient): Item => ({
  async plan({ stores: { clients, publicKeys }, clock }) {
    await refuseKeysOfPeople(publicKeys, wanted);
    const there = await clients.get(wanted.client_id);
    return there === undefined
      ? addition({ created_at: clock.now(), ...wanted })
      : change(there, wanted);
  },
});

function addition(client: ClientRecord): Step {
  const { client_id: id, token_endpoint_auth_method: method, secret_hash } = client;
  if (method.startsWith('client_secret') && secret_hash === undefined) {
    throw new Failure(`the client ${id} has no secret: write secret_hash or secret_file`);
  }
  return {
    change: {
      kind: 'client',
      name: id,
      change: 'added',
      members: differences({}, declaredOf(client)),
    },
    async run({ stores, recorder }) {
      await stores.declared.add({ kind: 'client', id });
      const changing = (kind: 'client.added' | 'client.removed') =>
        recorder.changing('clients', { kind, client: id });
      const isAdded = await writeUnlessKeysOfPeople(stores.publicKeys, client, {
        write: () => changing('client.added').add(client),
        undo: () => changing('client.removed').remove(id, client),
      });
      if (!isAdded) throw new Conflict(saidOfFile('client-added-meanwhile', { id }));
    },
  };
}

function change(there: ClientRecord, wanted: WantedClient): Step | undefined {
  const { client_id: id } = there;
  const fixed = FIXED.find((member) => !isDeepStrictEqual(there[member], wanted[member]));
  if (fixed !== undefined) {
    throw new Failure(`the client ${id} cannot change ${fixed}: declare another client_id`);
  }
  const { secret_hash = there.secret_hash } = wanted;
  const isSecretSame = secret_hash === there.secret_hash;
  const now = { ...wanted, ...(secret_hash !== undefined && { secret_hash }) };
  const members = differences(declaredOf(there), declaredOf(now));
  if (Object.keys(members).length === 0) return undefined;
  return {
    change: { kind: 'client', name: id, change: 'changed', members },
    async run({ stores, recorder, clock }: House) {
      const changed = {
        ...now,
        created_at: there.created_at,
        ...(there.demo && { demo: true }),
        ...(isSecretSame && there.former_secret && { former_secret: there.former_secret }),
        ...(there.withdrawn_scopes && { withdrawn_scopes: there.withdrawn_scopes }),
        ...withdrawn(there, now.scope, clock),
      };
      const events = [
        { kind: 'client.changed', client: id } as const,
        ...(isSecretSame ? [] : [{ kind: 'client.secret-changed', client: id } as const]),
      ];
      const isChanged = await writeUnlessKeysOfPeople(stores.publicKeys, changed, {
        write: () => recorder.changing('clients', ...events).replace(changed, there),
        undo: () => recorder.changing('clients', ...events).replace(there, changed),
      });
      if (!isChanged) {
        throw new Conflict(saidOfFile('client-changed-meanwhile', { id }));
      }
    },
    ...(narrows(now, there) && { afterwards: (house) => endForbidden(house, id) }),
  };
}

/**
 * Returns the item that removes a client that `apply` has made and the file no longer declares. The record of `apply`
 * is removed last: a run after an interruption still removes the consents of people, which otherwise would apply to a
 * later client with the same id.
 */
export const formerClientItem = (id: string): Item => ({
  async plan({ stores: { clients } }) {
    const afterwards = async (house: House) => {
      const { stores } = house;
      await clearClient(house, id, await stores.revocations.generation('client', id));
      // Keep the record if another run has declared the client again meanwhile.
      if ((await stores.clients.get(id)) !== undefined) return;
      await stores.declared.remove({ kind: 'client', id });
    };
    if ((await clients.get(id)) === undefined) return { run: async () => {}, afterwards };
    return {
      change: { kind: 'client', name: id, change: 'removed', members: {} },
      run: async (house) => void (await retireClient(house, id)),
      afterwards,
    };
  },
});
