import { type House, Conflict, perform } from '#shared/operations/operation.ts';
import { removeKey } from '#shared/operations/keys/key-remove.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { WantedKey } from './wanted.ts';
import { differences, type Item, type Step } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/** Returns an API key in the form of the file. */
export const declaredKey = ({
  id,
  application,
  realm,
  secret_hash,
  scopes,
  expires_at,
}: WantedKey) => ({
  id,
  application,
  realm,
  secret_hash,
  scopes,
  ...(expires_at !== undefined && { expires_at }),
});

export const keyItem = (wanted: WantedKey): Item => ({
  async plan({ stores: { apiKeys }, clock }) {
    const { id } = wanted;
    const there = await apiKeys.get(id);
    if (there === undefined) return addition({ created_at: clock.now(), ...wanted });
    const members = differences(declaredKey(there), declaredKey(wanted));
    if (Object.keys(members).length === 0) return undefined;
    const { created_at, used_at, demo } = there;
    const changed = {
      ...wanted,
      created_at,
      ...(used_at !== undefined && { used_at }),
      ...(demo && { demo }),
    };
    return {
      change: {
        kind: 'api-key',
        name: id,
        owner: wanted.application,
        change: 'changed',
        members,
      },
      async run({ recorder }) {
        const rotated = recorder.changing('apiKeys', { kind: 'api-key.rotated', key: id });
        if (!(await rotated.replace(changed, there)))
          throw new Conflict(saidOfFile('key-changed-meanwhile', { id }));
      },
    };
  },
});

function addition(key: ApiKeyRecord): Step {
  return {
    change: {
      kind: 'api-key',
      name: key.id,
      owner: key.application,
      change: 'added',
      members: differences({ id: key.id }, declaredKey(key)),
    },
    async run({ stores, recorder }) {
      await stores.declared.add({ kind: 'api-key', id: key.id });
      const added = recorder.changing('apiKeys', { kind: 'api-key.added', key: key.id });
      if (!(await added.add(key)))
        throw new Conflict(saidOfFile('key-changed-meanwhile', { id: key.id }));
    },
  };
}

/** Returns the item that removes an API key that `apply` has made and the file no longer declares. */
export const formerKeyItem = (id: string): Item => ({
  async plan({ stores: { apiKeys } }) {
    const forget = ({ stores }: House) => stores.declared.remove({ kind: 'api-key', id });
    const there = await apiKeys.get(id);
    if (there === undefined) return { run: forget };
    return {
      change: {
        kind: 'api-key',
        name: id,
        owner: there.application,
        change: 'removed',
        members: {},
      },
      async run(house) {
        await perform(removeKey, { id }, house);
        await forget(house);
      },
    };
  },
});
