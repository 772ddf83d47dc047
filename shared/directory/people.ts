import type { AccessStore } from '#shared/access/access-store.ts';
import { endEverything } from '#shared/access/everything.ts';
import { type Random, randomId } from '#shared/random.ts';
import type { People, PersonRecord } from '#shared/stores/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Passwords } from './password.ts';
import { newOpaqueString, usernameCaseMapped } from './precis.ts';

/** What is needed to change the people of the built-in directory. */
export interface PeopleStore extends AccessStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations' | 'people'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly random: Random;
}

/** What was asked for cannot be done; the message tells an operator what to do. */
export class PeopleError extends Error {
  override readonly name = 'PeopleError';
}

export interface NewPerson {
  readonly name: string;
  readonly password: string;
  /** Made by the first start. */
  readonly demo?: boolean;
}

/** Throws `PeopleError` when the name or the password is unacceptable or the name is taken. */
export async function addPerson(
  { stores, passwords, clock, random }: PeopleStore,
  { name, password, demo }: NewPerson,
): Promise<PersonRecord> {
  const mapped = usernameCaseMapped(name);
  if (mapped === undefined) {
    throw new PeopleError('a name is 1 to 64 letters, digits and . _ @ + -: choose another');
  }
  const person: PersonRecord = {
    id: randomId(random),
    name: mapped,
    password_hash: await hashNew(passwords, password),
    ...(demo && { demo }),
    created_at: clock.now(),
    version: 0,
  };
  if (!(await stores.people.add(person))) {
    throw new PeopleError(`the name ${mapped} is taken: choose another`);
  }
  return person;
}

/** The person of that name, in any form of it. Throws `PeopleError` when there is none. */
export async function personNamed(
  people: Pick<People, 'getByName'>,
  name: string,
): Promise<PersonRecord> {
  const person = await people.getByName(usernameCaseMapped(name) ?? '');
  if (person === undefined) throw new PeopleError(`there is no person ${name}`);
  return person;
}

/** Gives a person a new password and ends everything that the old one opened. */
export async function setPassword(
  store: PeopleStore,
  name: string,
  password: string,
): Promise<PersonRecord> {
  const password_hash = await hashNew(store.passwords, password);
  return change(store, name, (person) => ({ ...person, password_hash }));
}

/** Lets a person sign in no more and ends everything of theirs. */
export async function disablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  return change(store, name, (person) => ({ ...person, disabled: true }));
}

/** Lets them sign in again; what was ended stays ended. */
export async function enablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  return change(store, name, (person) => ({ ...person, disabled: false }));
}

/**
 * Replaces the record, then ends everything: who was let in by the old record has a generation from
 * before. The other way round the old record would let somebody in between the two.
 */
async function change(
  store: PeopleStore,
  name: string,
  edit: (person: PersonRecord) => PersonRecord,
): Promise<PersonRecord> {
  const { people } = store.stores;
  for (;;) {
    const person = await personNamed(people, name);
    const changed = { ...edit(person), version: person.version + 1 };
    if (!(await people.replace(changed))) continue;
    await endEverything(store, person.id);
    return changed;
  }
}

async function hashNew(passwords: PeopleStore['passwords'], password: string): Promise<string> {
  const enforced = newOpaqueString(password);
  if (enforced === undefined) {
    throw new PeopleError(
      'a password is 8 to 1024 bytes without control characters: choose another',
    );
  }
  return passwords.hash(enforced);
}
