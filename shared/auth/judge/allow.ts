import { subjectOf } from '../person.ts';
import type { About, Allowed, Principal } from '../scheme.ts';

/**
 * True if `allow` names the principal: a person by id or group, an application by id. The application through which
 * a person comes does not count.
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
