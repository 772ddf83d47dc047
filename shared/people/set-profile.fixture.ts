import { systemClock } from '#shared/base/clock.ts';
import type { PersonRecord, Profile } from '#shared/stores/people/people.ts';
import { type PeopleStore, replacePerson } from './people.ts';

/** Replaces a person's profile. */
export function setProfile(
  store: Pick<PeopleStore, 'stores' | 'recorder'>,
  name: string,
  edit: (profile: Profile) => Profile,
): Promise<PersonRecord> {
  const editProfile = ({ profile: former = {}, ...person }: PersonRecord) => {
    const profile = edit(former);
    return { ...person, ...(Object.keys(profile).length > 0 && { profile }) };
  };
  return replacePerson({ clock: systemClock, ...store }, name, editProfile, {
    kind: 'person.changed',
    what: 'profile',
  });
}
