import { setImmediate } from 'node:timers/promises';
import type { AccessStore } from './access-store.ts';
import { removeConsents } from './consents.ts';
import { endGrant } from './grants.ts';
import { walk } from './walk.ts';

/**
 * Ends a client's access to a person, in every browser and on every device; it has to be allowed anew. False: there was
 * none. The consent goes first, and whoever makes a grant of it looks for it afterwards, so that none is left; and again
 * behind the grants, since whoever writes one looks for the grant afterwards.
 */
export async function endApplication(
  store: AccessStore,
  accountId: string,
  clientId: string,
): Promise<boolean> {
  const removeIts = () =>
    removeConsents(store, accountId, (consent) => consent.clientId === clientId);
  const consents = await removeIts();
  const grants: string[] = [];
  for await (const access of walk(store, 'Access', accountId)) {
    if (access['clientId'] === clientId) grants.push(String(access['grantId']));
  }
  for (const grantId of grants) {
    await endGrant(store, grantId);
    await setImmediate();
  }
  await removeIts();
  return consents + grants.length > 0;
}
