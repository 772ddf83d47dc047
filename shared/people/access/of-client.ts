import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { type AccessStore, changing } from './access-store.ts';
import { removeConsentsTo } from './consents.ts';
import { type Access, endGrant } from './grants.ts';
import { hasRules, mayUse } from '#shared/stores/oauth/use-rules.ts';
import { batchesOfClient } from './walk.ts';

/**
 * Ends all that people allowed a client, and all its tokens; people must then allow the client again. It raises the
 * generation first: from then on each token and grant is refused, so that a crash before the remaining steps is
 * harmless.
 */
export async function endClient(store: AccessStore, clientId: string): Promise<void> {
  const until = rememberUntil(store.clock.now(), store.longestLife);
  const ended = { kind: 'client.ended', client: clientId } as const;
  await clearClient(
    store,
    clientId,
    await changing(store, 'revocations', ended).raise('client', clientId, until),
  );
}

/**
 * Removes consents to a client, and its grants of earlier generations than the raised one. Consents are removed
 * before and after the grants, for the reasons of `endApplication`. The grants are refused already.
 */
export async function clearClient(
  store: AccessStore,
  clientId: string,
  generation: number,
): Promise<void> {
  const { artefacts } = store.stores;
  await removeConsentsTo(store, clientId);
  for await (const found of batchesOfClient(store, 'Access', clientId)) {
    const ids = found
      .filter((one) => Number(one['clientGeneration']) < generation)
      .map(({ grantId }) => String(grantId));
    await artefacts.removeByGrant(...ids);
    await artefacts.remove('Grant', ...ids);
  }
  await removeConsentsTo(store, clientId);
}

/** How many grants are checked between two messages: whole batches. */
const TOLD = 1000;

/**
 * Ends the grants of a client that its rules of use forbid, with their tokens; no new tokens are issued for them
 * already. Ten thousand grants take seconds, so it tells how far it is.
 */
export async function endForbidden(
  store: AccessStore & {
    readonly stores: Pick<Stores, 'clients' | 'people'>;
    readonly tell?: (progress: string) => void;
  },
  clientId: string,
): Promise<void> {
  const { clients, people } = store.stores;
  const client = await clients.get(clientId);
  if (client === undefined || !hasRules(client)) return;
  let [looked, ended] = [0, 0];
  for await (const found of batchesOfClient(store, 'Access', clientId)) {
    for (const { grantId: grant, accountId, acr } of found as unknown as readonly Access[]) {
      const person = await people.get(accountId);
      if (person !== undefined && !mayUse(client, person, acr)) {
        const by = { kind: 'grant.ended', person: accountId, grant, client: clientId } as const;
        await endGrant(store, grant, by);
        ended += 1;
      }
    }
    looked += found.length;
    if (looked % TOLD === 0) store.tell?.(`${looked} grants checked so far, ${ended} ended`);
  }
}
