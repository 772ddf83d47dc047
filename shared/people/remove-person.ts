import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { changing } from './access/access-store.ts';
import { endEverything } from './access/everything.ts';
import { disablePerson, type PeopleStore, personNamed } from './people.ts';

export interface RemovalStore extends PeopleStore {
  readonly stores: PeopleStore['stores'] &
    Pick<Stores, 'passkeys' | 'publicKeys' | 'push' | 'secondFactors'>;
}

/**
 * Erases a person: their sign-ins, grants and consents, verifiers, passkeys, second factor, public keys, push
 * subscriptions and the record. Servers refuse the person from the first step on. A removal that was interrupted can be
 * made again: until the last step the person is there, disabled. The generation stays, so that no token of theirs is
 * ever good again, and so does a hash of the name. Throws `PeopleError` if there is no such person.
 */
export async function removePerson(store: RemovalStore, name: string): Promise<PersonRecord> {
  const { people } = store.stores;
  for (;;) {
    const known = await personNamed(people, name);
    // A disabled person stays as they are, so that of several removals at once none undoes the look of another.
    const person = known.disabled ? known : await disablePerson(store, name);
    await endAll(store, person);
    // Unless somebody has changed them meanwhile, and perhaps let them in again.
    const removed = { kind: 'person.removed', person: person.id } as const;
    if (!(await changing(store, 'people', removed).remove(person))) continue;
    // A request that was in flight then may have written since.
    await endAll(store, person);
    return person;
  }
}

async function endAll(store: RemovalStore, { id }: PersonRecord): Promise<void> {
  const { passkeys, publicKeys, push, secondFactors } = store.stores;
  await endEverything(store, id);
  await passkeys.removeAll(id);
  await secondFactors.remove(id);
  for (const key of await publicKeys.of({ kind: 'person', id })) await publicKeys.remove(key.id);
  for (const one of await push.subscriptionsOf(id)) await push.unsubscribe(one.id);
}
