import type { Person } from '#shared/people/directory.ts';
import type { Principal } from './scheme.ts';

/** Returns the principal for a person whom a scheme authenticated by the directory; the space gives the scopes. */
export function personPrincipal(realm: string, { id, name }: Person): Principal {
  return { kind: 'person', realm, name, claims: { sub: id } };
}

/** Returns the permanent id of a principal. Tokens name a person by this id, directories by their name. */
export function subjectOf(principal: Principal): string | undefined {
  if (principal.kind === 'anonymous') return undefined;
  return principal.kind === 'person' ? (principal.claims?.['sub'] ?? principal.name) : principal.id;
}
