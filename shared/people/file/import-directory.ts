import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { FormerName } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { aliasesOf } from '../names/aliases.ts';
import type { DirectoryContent } from './directory-content.ts';
import { type Counts, type Progress, type Put, Writing } from './writing.ts';
import { createRegistrationLinks } from '../registration.ts';
import { changing } from '../access/access-store.ts';
import { putPasskey, refuseKnownPasskeys } from './import-passkeys.ts';
import { putPublicKey, refuseKnownKeys } from './import-public-keys.ts';
import { putSecondFactor, refuseForeignSecondFactors } from './import-second-factors.ts';
import { peopleHere } from './people-here.ts';
import {
  changePerson,
  formerName,
  keepPerson,
  type NewRecord,
  PeopleError,
  type PeopleStore,
} from '../people.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

export interface DirectoryStore extends PeopleStore {
  readonly stores: PeopleStore['stores'] &
    Pick<Stores, 'apiKeys' | 'clients' | 'passkeys' | 'publicKeys' | 'secondFactors'>;
}

type ImportedPart = 'people' | 'api_keys' | 'public_keys' | 'passkeys' | 'second_factors';

/**
 * Adds the people and keys of a file, and replaces existing ones: people by name, keys and passkeys by id. Replaced
 * people keep their id, and all their access ends. Throws `PeopleError` before any change if the file and the store
 * give an id, an alias, a public key or a passkey to different people. It throws, too, if a name belonged to a
 * removed person, unless `former` allows it. The event of the import is written together with its first change; an
 * import without changes has no event. `tell` is called from time to time with the progress.
 */
export async function importDirectory(
  store: DirectoryStore,
  file: DirectoryContent,
  former: FormerName = 'refused',
  tell: Progress = () => {},
): Promise<Readonly<Record<ImportedPart, Counts>>> {
  const { people, api_keys, public_keys, passkeys, second_factors } = file;
  const personHere = peopleHere(store, file);
  for (const person of people) await refuseConflict(store, person, former);
  await refuseKnownKeys(store, file, personHere);
  await refuseKnownPasskeys(store, file, personHere);
  await refuseForeignSecondFactors(file, personHere);
  const event = { kind: 'directory.imported', count: people.length } as const;
  const writing = new Writing(event, tell);
  return {
    people: await writing.counted(people, (person, ...events) =>
      putPerson(store, person, former, ...events),
    ),
    api_keys: await writing.counted(api_keys, (key, ...events) => putKey(store, key, ...events)),
    public_keys: await writing.counted(public_keys, (key, ...events) =>
      putPublicKey(store, key, personHere, ...events),
    ),
    passkeys: await writing.counted(passkeys, (passkey, ...events) =>
      putPasskey(store, passkey, personHere, ...events),
    ),
    second_factors: await writing.counted(second_factors, (factor, ...events) =>
      putSecondFactor(store, factor, personHere, ...events),
    ),
  };
}

/** Throws `PeopleError` for a person who cannot be added here, or cannot replace the person of the same name. */
export async function refuseConflict(
  { stores: { people } }: Pick<PeopleStore, 'stores'>,
  person: Pick<NewRecord, 'id' | 'name' | 'kerberos'>,
  former: FormerName,
): Promise<void> {
  const { id, name } = person;
  if (former === 'refused' && (await people.isFormerName(name))) throw formerName(name);
  const owners = [
    [`the id ${id}`, await people.get(id)] as const,
    ...(await Promise.all(
      aliasesOf(person).map(async (alias) => [alias, await people.getByAlias(alias)] as const),
    )),
  ];
  for (const [what, owner] of owners) {
    if (owner === undefined || owner.name === name) continue;
    throw new PeopleError(saidOfFile('other-owner', { what, name, owner: owner.name }));
  }
}

async function putPerson(
  store: DirectoryStore,
  person: NewRecord,
  former: FormerName,
  ...events: readonly AuditEvent[]
): Promise<Put> {
  if (person.admin) await createRegistrationLinks(store).endFirst();
  if ((await store.stores.people.getByName(person.name)) === undefined) {
    await keepPerson(store, person, former, undefined, ...events);
    return 'added';
  }
  const edit = ({ id }: NewRecord) => ({ ...person, id });
  const change = { kind: 'person.changed', what: 'import' } as const;
  await changePerson(store, person.name, edit, change, ...events);
  return 'replaced';
}

async function putKey(
  store: DirectoryStore,
  key: ApiKeyRecord,
  ...events: readonly AuditEvent[]
): Promise<Put> {
  const apiKeys = changing(store, 'apiKeys', ...events);
  const was = await store.stores.apiKeys.get(key.id);
  if (!(await (was ? apiKeys.replace(key, was) : apiKeys.add(key)))) {
    throw new PeopleError(saidOfFile('key-changed-meanwhile', { id: key.id }));
  }
  return was ? 'replaced' : 'added';
}
