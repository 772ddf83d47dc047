import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { endEverything } from './access/everything.ts';
import { disablePerson, type PeopleStore, personNamed } from './people.ts';

export interface RemovalStore extends PeopleStore {
  readonly stores: PeopleStore['stores'] & Pick<Stores, 'publicKeys'>;
}

/**
 * Erases a person: what they have opened and allowed, verifiers, public keys, the record. Whoever was let in is
 * refused from the first step on, and a removal that was interrupted can be made again: until the last step they
 * are there, disabled. The generation stays, so that no token of theirs is ever good again, and a hash of the
 * name. Throws `PeopleError` when there is no such person.
 */
export async function removePerson(store: RemovalStore, name: string): Promise<PersonRecord> {
  const { people } = store.stores;
  for (;;) {
    const known = await personNamed(people, name);
    // Who is disabled stays as they are: of several removals at once none undoes another's look.
    const person = known.disabled ? known : await disablePerson(store, name);
    await endAll(store, person);
    // Unless somebody has changed them meanwhile, and perhaps let them in again.
    if (!(await people.remove(person))) continue;
    // What was in flight then may have been written since.
    await endAll(store, person);
    return person;
  }
}

async function endAll(store: RemovalStore, { id }: PersonRecord): Promise<void> {
  const { publicKeys } = store.stores;
  await endEverything(store, id);
  for (const key of await publicKeys.of({ kind: 'person', id })) await publicKeys.remove(key.id);
}
