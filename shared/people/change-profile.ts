import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AccessStore } from './access/access-store.ts';
import { type Access, endGrant } from './access/grants.ts';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import { walk } from './access/walk.ts';
import { type EventOf, type NewRecord, type PersonEvent, replacePerson } from './people.ts';

export interface ProfileStore extends AccessStore {
  readonly stores: Stores;
}

/**
 * Replaces a person's record for a change of the profile, which is no credential. In the same transaction it ends the
 * grants to clients that are no longer for this person: a client may be for the people of a group. Nothing else ends,
 * since the record is read at each request. Throws `PeopleError` if the person does not exist or an alias is taken.
 */
export async function changeProfile(
  store: ProfileStore,
  name: string,
  edit: (person: PersonRecord) => NewRecord,
  event: PersonEvent | EventOf,
): Promise<PersonRecord> {
  const changed = await store.stores.together(async (stores) => {
    const { recorder } = store;
    const held = { ...store, stores, ...(recorder && { recorder: recorder.of(stores) }) };
    const record = await replacePerson(held, name, edit, event);
    await endForbiddenTo(held, record.id);
    return record;
  });
  // A server writes a grant and then reads the person. If it reads before the commit, it sees the former groups, and the
  // transaction on PostgreSQL may not have seen the grant.
  await endForbiddenTo(store, changed.id);
  return changed;
}

/** Ends the grants of a person to clients that are not for the person. */
export async function endForbiddenTo(store: ProfileStore, accountId: string): Promise<void> {
  const person = await store.stores.people.get(accountId);
  if (person === undefined) return;
  const forbidden: Access[] = [];
  for await (const found of walk(store, 'Access', accountId)) {
    const access = found as unknown as Access;
    const client = await store.stores.clients.get(access.clientId);
    if (client !== undefined && !isFor(client, person)) forbidden.push(access);
  }
  for (const { grantId: grant, clientId: client } of forbidden) {
    await endGrant(store, grant, { kind: 'grant.ended', person: accountId, grant, client });
  }
}
