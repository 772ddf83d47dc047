import { setImmediate } from 'node:timers/promises';
import type { AccessStore } from './access-store.ts';
import { removeConsents } from './consents.ts';
import { endGrant } from './grants.ts';
import { walk } from './walk.ts';

/**
 * Ends a client's access to a person, in every browser and on every device; the person must then allow the client
 * again. Returns false if it had no access. The consent is removed before the grants: code that makes a grant checks
 * the consent afterwards, so no grant is left. The consent is removed again after the grants, since code that writes
 * a consent checks the grant afterwards.
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
