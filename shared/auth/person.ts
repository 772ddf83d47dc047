import type { Person } from '#shared/directory/directory.ts';
import type { Principal } from './scheme.ts';

/** Who a scheme of the directory has let in: a name in a realm, and scopes that the space gives. */
export function personPrincipal(realm: string, { id, name }: Person): Principal {
  return { kind: 'person', realm, name, claims: { sub: id } };
}
