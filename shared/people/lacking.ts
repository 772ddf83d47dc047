import type { People, PersonRecord } from '#shared/stores/people.ts';
import { lackingVerifiers } from './derive-verifiers.ts';
import type { RealmNeeds } from './realms.ts';

/**
 * Tells of each person what the realms need and is not kept of them. Most have the same rows, by the name of
 * the set: these are read of one of them only.
 */
export function lackingOf(people: Pick<People, 'getWhole'>, realms: readonly RealmNeeds[]) {
  const known = new Map<string, readonly RealmNeeds[]>();
  const kindOf = ({ digest_set, scram = {} }: PersonRecord) =>
    [digest_set, ...Object.keys(scram).toSorted()].join(' ');

  return async (person: PersonRecord): Promise<readonly RealmNeeds[]> => {
    const alike = known.get(kindOf(person));
    if (alike !== undefined) return alike;
    const whole = (await people.getWhole(person.id)) ?? { person, digests: [] };
    const lacks = lackingVerifiers(whole, realms);
    known.set(kindOf(whole.person), lacks);
    return lacks;
  };
}
