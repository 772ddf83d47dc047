import { setImmediate } from 'node:timers/promises';
import type { Identity, PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { said } from '#shared/refusals/operations.ts';
import type { AccessStore } from './access/access-store.ts';
import { endGrant } from './access/grants.ts';
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
 * Removes the link to an account at a source, and ends the sign-ins by it and all grants that they gave. `last`: `isEnough` refuses
 * the record without the link, and nothing changes; of several removals at once each is asked about what the others
 * left. `gone`: the person has no such link. An account that brought the person stays.
 */
export async function unlinkIdentity(
  store: LinkStore,
  { id, name }: Pick<PersonRecord, 'id' | 'name'>,
  source: string,
  isEnough: (left: PersonRecord) => boolean,
): Promise<'removed' | 'last' | 'gone'> {
  const isOf = (one: Identity) => one.source === source;
  let outcome = 'gone' as 'removed' | 'last' | 'gone';
  const edit = ({ linked = [], ...person }: PersonRecord) => {
    const others = linked.filter((one) => !isOf(one));
    const left = { ...person, ...(others.length > 0 && { linked: others }) };
    outcome = isEnough(left) ? 'removed' : 'last';
    if (person.id !== id || !linked.some(isOf)) outcome = 'gone';
    return left;
  };
  await replacePerson(store, name, edit, () =>
    outcome === 'removed' ? { kind: 'account.unlinked', what: source } : undefined,
  );
  if (outcome === 'removed') {
    await endSignInsBy(store, id, isOf);
    await endGrantsBy(store, id, isOf);
  }
  return outcome;
}

/** Ends the grants of a person that sign-ins by some accounts elsewhere gave, even if they outlive the browser. */
async function endGrantsBy(
  store: AccessStore,
  accountId: string,
  isMeant: (identity: Identity) => boolean,
): Promise<void> {
  const ids: string[] = [];
  for await (const { grantId, identity } of walk(store, 'Access', accountId)) {
    if (identity !== undefined && isMeant(identity as Identity)) ids.push(String(grantId));
  }
  for (const grantId of ids) {
    await endGrant(store, grantId);
    await setImmediate();
  }
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
