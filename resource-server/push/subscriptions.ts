import type { Standing } from '#shared/auth/standing/standing.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import type { PushMaker, PushSubscription } from '#shared/stores/push/push.ts';
import type { Stores } from '#shared/stores/stores.ts';

export interface SubscriptionParts {
  readonly stores: Pick<Stores, 'push' | 'artefacts' | 'revocations'>;
  readonly access: AccessStore;
  readonly standing: Pick<Standing, 'mark' | 'watch'>;
}

/** Returns the grant and client of a person's token. Undefined if it has none, as a client's own has. */
export async function makerOf(
  { stores }: Pick<SubscriptionParts, 'stores'>,
  principal: Principal,
): Promise<PushMaker | undefined> {
  const { grant_id, client_id } = principal.claims ?? {};
  if (principal.kind !== 'person' || grant_id === undefined || client_id === undefined) {
    return undefined;
  }
  const client_gen = await stores.revocations.generation('client', client_id);
  return { grant_id, client_id, client_gen };
}

/** Resolves to whether the grant that made a subscription is there, and its client has not changed. */
export async function isMade(
  { stores, access }: Omit<SubscriptionParts, 'standing'>,
  { grant_id, client_id, client_gen }: PushMaker,
): Promise<boolean> {
  const generation = await stores.revocations.generation('client', client_id);
  return generation === client_gen && (await findAccess(access, grant_id)) !== undefined;
}

/** Returns the subscription unless its grant has ended: then it is removed, too. */
export async function standingOf(
  parts: Omit<SubscriptionParts, 'standing'>,
  found: PushSubscription | undefined,
): Promise<PushSubscription | undefined> {
  if (found === undefined || (await isMade(parts, found.maker))) return found;
  await parts.stores.push.unsubscribe(found.id);
  return undefined;
}

/** Calls `end` within a second of the end of the grant that made a subscription. Returns a function that ends the watch. */
export function watchSubscription(
  parts: SubscriptionParts,
  { id, maker }: PushSubscription,
  end: (reason: string) => void,
): () => void {
  const grounds = {
    of: `subscription ${id}`,
    end: async () => ((await isMade(parts, maker)) ? undefined : ('revoked' as const)),
  };
  const passed = { principal: { kind: 'anonymous' as const }, grounds: [grounds] };
  return parts.standing.watch({ passed, mark: parts.standing.mark() }, 'revoked', end);
}
