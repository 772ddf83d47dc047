import { active } from '#shared/people/active.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import type { About } from '../scheme.ts';

/** What applications behind a space are told of a person. An address that nobody has verified could be another's. */
export function aboutOf({ name, profile }: Pick<PersonRecord, 'name' | 'profile'>): About {
  const [primary] = profile?.emails ?? [];
  return {
    name,
    ...(primary?.verified && { email: primary.address }),
    groups: profile?.groups ?? [],
  };
}

/** Of who may sign in; undefined: nobody who may. `demo`: whether the person that the first start made may. */
export function lookUp(people: Pick<People, 'get'>, demo: boolean) {
  return async (id: string): Promise<About | undefined> => {
    const person = active(await people.get(id), demo);
    return person && aboutOf(person);
  };
}
