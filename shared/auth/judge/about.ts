import { active, type Admitted } from '#shared/people/active.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import type { About } from '../scheme.ts';

/**
 * Returns what applications behind a space learn about a person. It omits an unverified email address, which another
 * person may own.
 */
export function aboutOf({ name, profile }: Pick<PersonRecord, 'name' | 'profile'>): About {
  const [primary] = profile?.emails ?? [];
  return {
    name,
    ...(primary?.verified && { email: primary.address }),
    groups: profile?.groups ?? [],
  };
}

/**
 * Creates a look-up of people who may sign in; it returns undefined for any other person.
 */
export function lookUp(people: Pick<People, 'get'>, admitted: Admitted) {
  return async (id: string): Promise<About | undefined> => {
    const person = active(await people.get(id), admitted);
    return person && aboutOf(person);
  };
}
