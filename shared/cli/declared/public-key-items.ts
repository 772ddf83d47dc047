import { isDeepStrictEqual } from 'node:util';
import { addPublicKey, isOfClient, ownerOf, VOUCHED } from '#shared/people/key-purposes.ts';
import { KEY_REFUSALS } from '#shared/operations/key-refusals.ts';
import { Conflict, type House } from '#shared/operations/operation.ts';
import type { KeyOwner, PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { Failure } from '../arguments/command.ts';
import type { WantedPublicKey } from './wanted.ts';
import { differences, type Item, type Step } from './step.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

/** Members of a key that cannot be changed, since the key's audit events would then describe another key. */
const FIXED = ['owner', 'scheme', 'origin', 'name'] as const;

/** Returns a public key in the form of the file. */
export const declaredPublicKey = ({ id, scheme, spki, name, origin }: PublicKeyRecord) => ({
  id,
  scheme,
  spki,
  name,
  ...(origin !== undefined && { origin }),
});

/** Returns the item of a public key. `brought`: the people of the file, as `name NAME` and `id ID`. */
export const publicKeyItem = (wanted: WantedPublicKey, brought: ReadonlySet<string>): Item => ({
  async plan(house) {
    const { id } = wanted;
    const { publicKeys, clients } = house.stores;
    const [there, owner] = [await publicKeys.get(id), await ownerIn(house, wanted)];
    if (owner === undefined && !brought.has(spelled(wanted))) {
      throw new Failure(`the key ${id} is of somebody who is neither in the file nor in the store`);
    }
    if (there !== undefined) {
      const fixed = FIXED.find(
        (member) => !isDeepStrictEqual(there[member], { ...wanted, owner }[member]),
      );
      if (fixed === undefined) return undefined;
      throw new Failure(`the key ${id} cannot change ${fixed}: remove it first`);
    }
    if (await isOfClient(clients, id)) {
      throw new Conflict(KEY_REFUSALS['of a client'](id));
    }
    return addition(wanted);
  },
});

/** Returns the owner's name for messages. An application has no name other than its id. */
const spelled = ({ owner }: WantedPublicKey) =>
  'name' in owner ? `name ${owner.name}` : `id ${owner.id}`;

/** Resolves to the owner with its id; undefined: the store has no such person. */
async function ownerIn(
  { stores: { people } }: House,
  { owner }: WantedPublicKey,
): Promise<KeyOwner | undefined> {
  if (owner.kind === 'application') return owner;
  const person = await ('name' in owner ? people.getByName(owner.name) : people.get(owner.id));
  return person && { kind: 'person', id: person.id };
}

function addition(wanted: WantedPublicKey): Step {
  const { id, scheme, spki, name, origin, owner } = wanted;
  const shown = { scheme, spki, name, ...(origin !== undefined && { origin }), owner };
  return {
    change: { kind: 'public-key', name: id, change: 'added', members: differences({}, shown) },
    async run(house) {
      const { stores, recorder, clock } = house;
      const found = await ownerIn(house, wanted);
      if (found === undefined) throw new Conflict(saidOfFile('owner-removed-meanwhile', { id }));
      await stores.declared.add({ kind: 'public-key', id });
      const vouched = found.kind === 'person' ? VOUCHED : {};
      const key = { created_at: clock.now(), ...wanted, ...vouched, owner: found };
      const outcome = await addPublicKey(stores, key, recorder);
      if (outcome !== 'added') throw new Conflict(KEY_REFUSALS[outcome](id));
    },
  };
}

/** Returns the item that removes a public key that `apply` has made and the file no longer declares. */
export const formerPublicKeyItem = (id: string): Item => ({
  async plan({ stores: { publicKeys } }) {
    const forget = ({ stores }: House) => stores.declared.remove({ kind: 'public-key', id });
    const there = await publicKeys.get(id);
    if (there === undefined) return { run: forget };
    return {
      change: { kind: 'public-key', name: id, change: 'removed', members: {} },
      async run(house) {
        const event = { kind: 'public-key.removed', key: id, ...ownerOf(there) } as const;
        await house.recorder.changing('publicKeys', event).remove(id);
        await forget(house);
      },
    };
  },
});
