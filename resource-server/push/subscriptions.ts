import type { Mark, Standing } from '#shared/auth/standing/standing.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { andThen } from '#shared/base/awaitable.ts';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import type { PushMaker, PushSubscription } from '#shared/stores/push/push.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** The number of revocation checks after which a watch also checks whether the grant has expired. */
const LOOKS = 20;

export interface SubscriptionParts {
  readonly stores: Pick<Stores, 'push' | 'artefacts' | 'revocations'>;
  readonly feed: Pick<RevocationFeed, 'latest'>;
  readonly access: AccessStore;
  readonly standing: Pick<Standing, 'mark' | 'watch'>;
}

/** Returns the grant and client of a person's token. Undefined for a client's own token, which has no grant. */
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

type Made = Pick<PushSubscription, 'person' | 'maker'>;

/** Resolves to whether the grant of a subscription exists, and its client has not changed. */
export async function isMade(
  { stores, feed, access }: Omit<SubscriptionParts, 'standing'>,
  { person, maker }: Made,
): Promise<boolean> {
  if (isRevoked(await feed.latest(), { person, maker })) return false;
  const generation = await stores.revocations.generation('client', maker.client_id);
  if (generation !== maker.client_gen) return false;
  return (await findAccess(access, maker.grant_id)) !== undefined;
}

/** True if a token of the grant would be refused as revoked. `findAccess` knows the generation of the person. */
const isRevoked = (view: RevocationView, { person, maker }: Made): boolean =>
  view.revokedBy({ ...maker, sub: person, jti: '', kid: '', epoch: view.epoch ?? '' }) !==
  undefined;

/** Returns a subscription whose grant is valid. A subscription whose grant has ended is removed. */
export async function standingOf(
  parts: Omit<SubscriptionParts, 'standing'>,
  found: PushSubscription | undefined,
): Promise<PushSubscription | undefined> {
  if (found === undefined || (await isMade(parts, found))) return found;
  await parts.stores.push.unsubscribe(found.id);
  return undefined;
}

/**
 * Calls `doubt` within a second of the revocation of a subscription's grant, within ten seconds of its expiry, and
 * after an outage of the store of some seconds. Returns a function that ends the watch.
 * All watches share the check of revocations, and only the check for an expired grant reads the store. `mark`: taken
 * before the subscription was found valid.
 */
export function watchSubscription(
  parts: SubscriptionParts,
  { id, person, maker }: PushSubscription,
  mark: Mark,
  doubt: () => void,
): () => void {
  let looks = 0;
  const found = (over: boolean) => (over ? ('revoked' as const) : undefined);
  const grounds = {
    of: `subscription ${id}`,
    end() {
      looks += 1;
      if (looks % LOOKS === 0) {
        return isMade(parts, { person, maker }).then((made) => found(!made));
      }
      return andThen(parts.feed.latest(), (view) => found(isRevoked(view, { person, maker })));
    },
  };
  const principal = { kind: 'person' as const, realm: '', name: person };
  const passed = { principal, grounds: [grounds] };
  return parts.standing.watch({ passed, mark }, 'revoked', doubt);
}
