import { active } from '#shared/people/active.ts';
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
 * Creates a look-up of people who may sign in; it returns undefined for anybody else. `demo`: whether the person that
 * the first start created may sign in.
 */
export function lookUp(people: Pick<People, 'get'>, demo: boolean) {
  return async (id: string): Promise<About | undefined> => {
    const person = active(await people.get(id), demo);
    return person && aboutOf(person);
  };
}
