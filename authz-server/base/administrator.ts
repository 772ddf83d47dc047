import type { Principal } from '#shared/auth/scheme.ts';
import type { Stores } from '#shared/stores/stores.ts';

/**
 * Whether somebody may administer this server now: a person whom an operator made an administrator, or a client that was
 * made for it and comes in the name of nobody. The stores are asked each time, so that it ends at once.
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
