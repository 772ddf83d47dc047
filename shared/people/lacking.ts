import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import { lackingVerifiers } from './derive-verifiers.ts';
import type { RealmNeeds } from './verifier-kind.ts';

/**
 * Tells of each person what the realms need and is not kept of them. Most have the same verifiers, by the name
 * of the set: these are read of one of them only.
 */
export function lackingOf(people: Pick<People, 'getWhole'>, realms: readonly RealmNeeds[]) {
  const known = new Map<string | undefined, readonly RealmNeeds[]>();

  return async (person: PersonRecord): Promise<readonly RealmNeeds[]> => {
    const alike = known.get(person.verifier_set);
    if (alike !== undefined) return alike;
    const whole = (await people.getWhole(person.id)) ?? { person, verifiers: [] };
    const lacks = lackingVerifiers(whole.verifiers, realms);
    known.set(whole.person.verifier_set, lacks);
    return lacks;
  };
}
