import { setImmediate } from 'node:timers/promises';
import type { Identity, PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { said } from '#shared/refusals/operations.ts';
import type { AccessStore } from './access/access-store.ts';
import { endSignIn } from './access/sign-ins.ts';
import { walk } from './access/walk.ts';
import { identitiesOf } from './names/aliases.ts';
import { PeopleError, type PeopleStore, replacePerson } from './people.ts';

type LinkStore = AccessStore &
  Pick<PeopleStore, 'recorder' | 'clock'> & { readonly stores: Pick<Stores, 'people'> };

/**
 * Links an account at a source to a person, as a further way to sign in. Throws `PeopleError` if the person has an
 * account of that source already, or the account belongs to another person.
 */
export async function linkIdentity(
  store: LinkStore,
  { id, name }: Pick<PersonRecord, 'id' | 'name'>,
  { source, subject }: Identity,
): Promise<void> {
  const edit = (person: PersonRecord) => {
    if (person.id !== id || identitiesOf(person).some((one) => one.source === source)) {
      throw new PeopleError(said('already-linked', { name, source }));
    }
    const added = { source, subject, created_at: store.clock.now() };
    return { ...person, linked: [...(person.linked ?? []), added] };
  };
  await replacePerson(store, name, edit, { kind: 'account.linked', what: source });
}

/**
 * Removes the link to an account at a source, and ends the sign-ins by it with their grants. False: the person has no
 * such link. An account that brought the person stays.
 */
export async function unlinkIdentity(
  store: LinkStore,
  { id, name }: Pick<PersonRecord, 'id' | 'name'>,
  source: string,
): Promise<boolean> {
  const isOf = (one: Identity) => one.source === source;
  let removed = false;
  const edit = ({ linked = [], ...person }: PersonRecord) => {
    removed = person.id === id && linked.some(isOf);
    const left = linked.filter((one) => !isOf(one));
    return { ...person, ...(left.length > 0 && { linked: left }) };
  };
  await replacePerson(store, name, edit, () =>
    removed ? { kind: 'account.unlinked', what: source } : undefined,
  );
  if (removed) await endSignInsBy(store, id, isOf);
  return removed;
}

/** Ends the sign-ins of a person by some accounts elsewhere. `sid`: only those of that session there. */
export async function endSignInsBy(
  store: AccessStore,
  accountId: string,
  isMeant: (identity: Identity, sid: string | undefined) => boolean,
): Promise<void> {
  const uids: string[] = [];
  for await (const { uid, identity, sid } of walk(store, 'SignIn', accountId)) {
    if (identity !== undefined && isMeant(identity as Identity, sid as string | undefined)) {
      uids.push(String(uid));
    }
  }
  for (const uid of uids) {
    const ended = { kind: 'sign-in.ended', person: accountId, id: uid } as const;
    await endSignIn(store, { uid, accountId }, ended);
    await setImmediate();
  }
}
