import type { Principal } from '#shared/auth/scheme.ts';
import type { Stores } from '#shared/stores/stores.ts';

/**
 * Whether the principal may administer the server now. It is a person whom an operator made an administrator, or a client
 * that was registered for administration and acts for no person. The stores are asked each time, so the right ends at
 * once.
 */
export async function isAdministrator(
  { people, clients }: Pick<Stores, 'people' | 'clients'>,
  principal: Principal,
): Promise<boolean> {
  if (principal.kind === 'person') {
    const person = await people.get(principal.name);
    return person?.admin === true && person.disabled !== true;
  }
  if (principal.kind !== 'application') return false;
  return (await clients.get(principal.claims?.['client_id'] ?? ''))?.admin === true;
}
