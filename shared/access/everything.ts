import { rememberUntil } from '#shared/oauth/lifetime.ts';
import type { AccessStore } from './access-store.ts';
import { endGrant, listAccess } from './grants.ts';
import { endSignIn, listSignIns } from './sign-ins.ts';

/**
 * Signs a person out everywhere and ends all that they allowed. Once the generation is raised, every
 * sign-in, grant and token of an earlier one is refused; the rest only clears away.
 */
export async function endEverything(store: AccessStore, accountId: string): Promise<void> {
  const [signIns, grants] = await Promise.all([
    listSignIns(store, accountId),
    listAccess(store, accountId),
  ]);
  const until = rememberUntil(store.clock.now(), store.longestLife);
  await store.stores.revocations.raise('person', accountId, until);
  for (const { grantId } of grants) await endGrant(store, grantId);
  for (const signIn of signIns) await endSignIn(store, signIn);
}
