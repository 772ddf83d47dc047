import { isDeepStrictEqual } from 'node:util';
import type { House } from '#shared/operations/operation.ts';
import { clearClient } from '#shared/people/access/of-client.ts';
import { Conflict } from '#shared/operations/operation.ts';
import { retireClient } from '#shared/operations/clients/client-remove.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Failure } from '../arguments/command.ts';
import {
  refuseKeysOfPeople,
  writeUnlessKeysOfPeople,
} from '#shared/operations/clients/keys-of-client.ts';
import { withdrawn } from '#shared/operations/clients/client-set.ts';
import type { WantedClient } from './wanted.ts';
import { differences, type Item, type Step } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/** Members that no client changes: another one has to be registered. */
const FIXED = ['grant_types', 'token_endpoint_auth_method', 'application_type', 'gnap'] as const;

/** The members that a file declares. */
function declaredOf(client: Partial<ClientRecord>) {
  const { client_id: _, created_at: __, demo: ___, former_secret: ____, ...declared } = client;
  const { withdrawn_scopes: _____, ...members } = declared;
  return members;
}

/** Returns a client as a file declares it. One of GNAP has no ID tokens. */
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
  };
}

/**
 * A client that `apply` has made, and the file no longer declares. It is forgotten last, so that a run after one that was
 * interrupted finds what people allowed it, which would else count for another client of that id.
 */
export const formerClientItem = (id: string): Item => ({
  async plan({ stores: { clients } }) {
    const afterwards = async (house: House) => {
      const { stores } = house;
      await clearClient(house, id, await stores.revocations.generation('client', id));
      // Unless it is declared anew meanwhile.
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
