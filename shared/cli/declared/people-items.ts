import { isDeepStrictEqual } from 'node:util';
import { randomId } from '#shared/base/random.ts';
import { type House, perform } from '#shared/operations/operation.ts';
import { disableUser, enableUser } from '#shared/operations/people/user-disable.ts';
import { nameUserInKerberos } from '#shared/operations/people/user-kerberos.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endForbiddenTo } from '#shared/people/change-profile.ts';
import { refuseConflict } from '#shared/people/file/import-directory.ts';
import { keepManaged } from '#shared/people/identities.ts';
import { keepPerson, type NewRecord, PeopleError } from '#shared/people/people.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import type { FormerName, PersonRecord, Profile } from '#shared/stores/people/people.ts';
import type { DeclaredPerson } from './file-schema.ts';
import { differences, type Item, type Step } from './step.ts';

/** The members of a person that a file declares; absent ones of `profile` and `disabled` are left as they are. */
const declaredOf = ({ profile = {}, kerberos = [], admin, disabled }: Omit<NewRecord, 'id'>) => ({
  ...profile,
  ...(kerberos.length > 0 && { kerberos }),
  ...(admin && { admin }),
  ...(disabled && { disabled }),
});

export const personItem = (wanted: DeclaredPerson, former: FormerName): Item => ({
  async plan(house) {
    const { stores, random } = house;
    const there = await stores.people.getByName(wanted.name);
    const id = there?.id ?? wanted.id ?? randomId(random);
    await refuseConflict(house, { ...wanted, id }, there === undefined ? former : 'reused');
    return there === undefined ? addition({ ...wanted, id }, former) : change(there, wanted);
  },
});

function addition(person: DeclaredPerson & { readonly id: string }, former: FormerName): Step {
  const members = differences({}, declaredOf({ created_at: 0, ...person }));
  return {
    change: { kind: 'person', name: person.name, change: 'added', members },
    ...(person.admin && !person.disabled && { administrator: { id: person.id, after: true } }),
    async run(house) {
      const { declared, people } = house.stores;
      const thing = { kind: 'person', id: person.id } as const;
      await declared.add(thing);
      try {
        await keepPerson(house, { created_at: house.clock.now(), ...person }, former);
        if (person.admin) await createRegistrationLinks(house).endFirst();
      } catch (error) {
        // The person may exist by now: another run was faster, or the store made the person but did not answer.
        const isAbsent =
          error instanceof PeopleError && (await people.get(person.id)) === undefined;
        if (isAbsent) await declared.remove(thing);
        throw error;
      }
    },
  };
}

function change(there: PersonRecord, wanted: DeclaredPerson): Step | undefined {
  const { name, profile = {}, disabled = false, kerberos = [], admin = false } = there;
  const now = {
    profile: wanted.profile ?? profile,
    disabled: wanted.disabled ?? disabled,
    kerberos: wanted.kerberos ?? [],
    admin: wanted.admin ?? false,
  };
  // `setUser` would refuse such a change only after others were made.
  keepManaged(() => ({ ...there, profile: now.profile }))(there);
  const members = differences(declaredOf(there), declaredOf({ ...there, ...now }));
  if (Object.keys(members).length === 0) return undefined;
  const [before, after] = [admin && !disabled, now.admin && !now.disabled];
  return {
    change: { kind: 'person', name, change: 'changed', members },
    ...(before !== after && { administrator: { id: there.id, after } }),
    async run(house) {
      // Disable the person first, so that no later change lets in a person who should be disabled.
      if (now.disabled && !disabled) await perform(disableUser, { name }, house);
      await setProfile(house, { name, profile, admin }, now);
      if (!isDeepStrictEqual(now.kerberos, kerberos)) {
        await perform(nameUserInKerberos, { name, principals: now.kerberos }, house);
      }
      if (now.disabled || !disabled) return;
      await house.stores.declared.add({ kind: 'person', id: there.id });
      await perform(enableUser, { name }, house);
    },
    // The transaction of the change may have missed a grant, as `changeProfile` says.
    ...('groups' in members && { afterwards: (house) => endForbiddenTo(house, there.id) }),
  };
}

/** The options that clear the members of a profile. */
const CLEARED: Readonly<Record<keyof Profile, string>> = {
  display_name: 'display-name',
  emails: 'email',
  groups: 'group',
  locale: 'locale',
  picture: 'picture',
  attributes: 'attribute',
};

async function setProfile(
  house: House,
  was: { readonly name: string; readonly profile: Profile; readonly admin: boolean },
  now: { readonly profile: Profile; readonly admin: boolean },
): Promise<void> {
  const gone = (Object.keys(was.profile) as (keyof Profile)[]).filter(
    (member) => now.profile[member] === undefined,
  );
  const isSame = isDeepStrictEqual(now.profile, was.profile);
  if (isSame && now.admin === was.admin) return;
  const without = [
    ...gone.map((member) => CLEARED[member]),
    ...(was.admin && !now.admin ? ['admin'] : []),
  ];
  const admin = now.admin && !was.admin && { admin: true };
  const profile = isSame ? {} : now.profile;
  await perform(setUser, { name: was.name, ...profile, ...admin, without }, house);
}

/**
 * Returns the item that disables a person whom `apply` has added and the file no longer declares. The person is never
 * removed. `apply` then removes its own record of the person, so that an operator can enable the person again.
 */
export const formerPersonItem = (id: string): Item => ({
  async plan({ stores: { people } }) {
    const forget = ({ stores }: House) => stores.declared.remove({ kind: 'person', id });
    const there = await people.get(id);
    if (there === undefined) return { run: forget };
    const { name, admin, disabled } = there;
    if (disabled) {
      // The person may have been disabled by a run that was killed before it ended all sessions.
      return { run: async (house) => (await endEverything(house, id), forget(house)) };
    }
    const members = { disabled: { old: undefined, new: true } };
    return {
      change: { kind: 'person', name, change: 'disabled', members },
      ...(admin && { administrator: { id, after: false } }),
      async run(house) {
        await perform(disableUser, { name }, house);
        await forget(house);
      },
    };
  },
});
