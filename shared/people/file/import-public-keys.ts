import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import { changing } from '../access/access-store.ts';
import type { Put } from './writing.ts';
import type { KeyOwner, PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { isOfClient, MOST_KEYS } from '../key-purposes.ts';
import { PeopleError } from '../people.ts';
import type { DirectoryContent } from './directory-content.ts';
import type { PersonHere } from './people-here.ts';
import { saidOfFile } from '#shared/refusals/files.ts';

interface KeyStore {
  readonly recorder?: Recorder;
  readonly stores: Pick<Stores, 'clients' | 'publicKeys'>;
}

/** Throws `PeopleError` for a key that belongs to another person or to a client here. */
export async function refuseKnownKeys(
  { stores: { publicKeys, clients } }: KeyStore,
  { public_keys }: DirectoryContent,
  personHere: PersonHere,
): Promise<void> {
  for (const { id, owner } of public_keys) {
    if (await isOfClient(clients, id)) {
      throw new PeopleError(saidOfFile('key-of-client-here', { id }));
    }
    const there = (await publicKeys.get(id))?.owner;
    if (there === undefined) continue;
    const theirs = await ownerHere(owner, personHere);
    if (there.kind !== theirs?.kind || there.id !== theirs.id) {
      throw new PeopleError(saidOfFile('known-elsewhere', { what: `the key ${id}` }));
    }
  }
}

/** Writes a key. An equal key stays as it is, with any later sign-out. */
export async function putPublicKey(
  store: KeyStore,
  key: PublicKeyRecord,
  personHere: PersonHere,
  ...events: readonly AuditEvent[]
): Promise<Put> {
  const publicKeys = changing(store, 'publicKeys', ...events);
  const owner = await ownerHere(key.owner, personHere);
  if (owner === undefined)
    throw new PeopleError(saidOfFile('person-removed-meanwhile', { what: `the key ${key.id}` }));
  const there = await publicKeys.get(key.id);
  if (there?.scheme === key.scheme && there.origin === key.origin) return 'same';
  const replaced = await publicKeys.remove(key.id);
  const outcome = await publicKeys.add({ ...key, owner }, MOST_KEYS);
  if (outcome === 'full') {
    throw new PeopleError(
      saidOfFile('too-many-of-owner', { what: `the key ${key.id}`, most: MOST_KEYS }),
    );
  }
  if (outcome === 'taken') {
    throw new PeopleError(saidOfFile('key-added-meanwhile', { id: key.id }));
  }
  if (there?.signed_out_at !== undefined) await publicKeys.signOut(key.id, there.signed_out_at);
  return replaced ? 'replaced' : 'added';
}

async function ownerHere(owner: KeyOwner, personHere: PersonHere): Promise<KeyOwner | undefined> {
  if (owner.kind === 'application') return owner;
  const id = await personHere(owner.id);
  return id === undefined ? undefined : { kind: 'person', id };
}
