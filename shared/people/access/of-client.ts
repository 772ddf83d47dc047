import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { type AccessStore, changing } from './access-store.ts';
import { removeConsentsTo } from './consents.ts';
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
