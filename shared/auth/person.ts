import type { Person } from '#shared/people/directory.ts';
import type { Principal } from './scheme.ts';

/** Who a scheme of the directory has let in: a name in a realm, and scopes that the space gives. */
export function personPrincipal(realm: string, { id, name }: Person): Principal {
  return { kind: 'person', realm, name, claims: { sub: id } };
}

/** The id that stays this principal's alone: a token names a person by it, a directory by their name. */
export function subjectOf(principal: Principal): string | undefined {
  if (principal.kind === 'anonymous') return undefined;
  return principal.kind === 'person' ? (principal.claims?.['sub'] ?? principal.name) : principal.id;
}
