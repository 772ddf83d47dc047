import { subjectOf } from '../person.ts';
import type { About, Allowed, Principal } from '../scheme.ts';

/**
 * A person by their id or by a group, an application by its id: through which application a person comes says
 * nothing of them. Nobody who is not named.
 */
export function isAllowed(
  { groups, people, clients }: Allowed,
  principal: Principal,
  about: About | undefined = principal.about,
): boolean {
  const id = subjectOf(principal) ?? '';
  if (principal.kind !== 'person') return clients.has(id);
  return people.has(id) || about?.groups.some((group) => groups.has(group)) === true;
}
