import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { changing } from './access/access-store.ts';
import { endEverything } from './access/everything.ts';
import { createAddressLinks } from './address-links.ts';
import { disablePerson, type PeopleStore, personNamed } from './people.ts';
import { createRecoveryLinks } from './recovery-links.ts';

export interface RemovalStore extends PeopleStore {
  readonly stores: PeopleStore['stores'] &
    Pick<Stores, 'outbox' | 'passkeys' | 'publicKeys' | 'push' | 'secondFactors'>;
}

/**
 * Erases a person: their sign-ins, grants and consents, verifiers, passkeys, second factor, public keys, push
 * subscriptions, waiting links and messages, and the record. Servers refuse the person from the first step on. An interrupted removal can be
 * repeated: until the last step the person still exists, disabled. The generation stays, so that no token of theirs
 * is ever valid again, and a hash of the name stays, too. Throws `PeopleError` if the person does not exist.
 */
export async function removePerson(store: RemovalStore, name: string): Promise<PersonRecord> {
  const { people } = store.stores;
  for (;;) {
    const known = await personNamed(people, name);
    // A person who is disabled already is not changed here, so that several removals at the same time do not outdate
    // each other's record.
    const person = known.disabled ? known : await disablePerson(store, name);
    await endAll(store, person);
    // The removal fails if the person was changed meanwhile, and perhaps enabled.
    const removed = { kind: 'person.removed', person: person.id } as const;
    if (!(await changing(store, 'people', removed).remove(person))) continue;
    // A request that was in flight may have written data since.
    await endAll(store, person);
    return person;
  }
}

async function endAll(store: RemovalStore, { id }: PersonRecord): Promise<void> {
  const { outbox, passkeys, publicKeys, push, secondFactors } = store.stores;
  await endEverything(store, id);
  await passkeys.removeAll(id);
  await secondFactors.remove(id);
  for (const key of await publicKeys.of({ kind: 'person', id })) await publicKeys.remove(key.id);
  for (const one of await push.subscriptionsOf(id)) await push.unsubscribe(one.id);
  for (const one of await outbox.of(id)) await outbox.remove(one.id);
  await createAddressLinks(store).end(id);
  await createRecoveryLinks(store).end(id);
}
