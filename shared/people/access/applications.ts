import { setImmediate } from 'node:timers/promises';
import type { AccessStore } from './access-store.ts';
import { removeConsents } from './consents.ts';
import { endGrant } from './grants.ts';
import { walk } from './walk.ts';

/**
 * Ends a client's access to a person, in every browser and on every device; the person has to allow it anew. Returns
 * false if there was none. It removes the consent first: anybody who makes a grant of it looks for the consent afterwards,
 * so that no grant is left. It removes the consent again after the grants, since anybody who writes a consent looks for
 * the grant afterwards.
 */
export async function endApplication(
  store: AccessStore,
  accountId: string,
  clientId: string,
): Promise<boolean> {
  const ended = { kind: 'consent.ended', person: accountId, client: clientId } as const;
  const removeIts = () =>
    removeConsents(store, accountId, (consent) => consent.clientId === clientId, ended);
  const consents = await removeIts();
  const grants: string[] = [];
  for await (const access of walk(store, 'Access', accountId)) {
    if (access['clientId'] === clientId) grants.push(String(access['grantId']));
  }
  for (const [n, grantId] of grants.entries()) {
    await endGrant(store, grantId, ...(consents + n === 0 ? [ended] : []));
    await setImmediate();
  }
  await removeIts();
  return consents + grants.length > 0;
}
