import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import { lackingVerifiers } from './derive-verifiers.ts';
import type { RealmNeeds } from './verifier-kind.ts';

/**
 * Creates a function that returns the verifiers that a person lacks in the realms. A person without a password lacks
 * none, since verifiers are derived from passwords. Most people have the same set of verifiers, which has a name;
 * each set is read from the store once.
 */
export function lackingOf(people: Pick<People, 'getWhole'>, realms: readonly RealmNeeds[]) {
  const known = new Map<string | undefined, readonly RealmNeeds[]>();

  return async (person: PersonRecord): Promise<readonly RealmNeeds[]> => {
    if (person.password_hash === undefined) return [];
    const alike = known.get(person.verifier_set);
    if (alike !== undefined) return alike;
    const whole = (await people.getWhole(person.id)) ?? { person, verifiers: [] };
    const lacks = lackingVerifiers(whole.verifiers, realms);
    known.set(whole.person.verifier_set, lacks);
    return lacks;
  };
}
