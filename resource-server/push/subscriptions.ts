import type { Mark, Standing } from '#shared/auth/standing/standing.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { andThen } from '#shared/base/awaitable.ts';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findAccess } from '#shared/people/access/grants.ts';
import type { PushMaker, PushSubscription } from '#shared/stores/push/push.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** Looks at the revocations after which a watch also looks for a grant that expired. */
const LOOKS = 20;

export interface SubscriptionParts {
  readonly stores: Pick<Stores, 'push' | 'artefacts' | 'revocations'>;
  readonly feed: Pick<RevocationFeed, 'latest'>;
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

type Made = Pick<PushSubscription, 'person' | 'maker'>;

/** Resolves to whether the grant that made a subscription is there, and its client has not changed. */
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

/** Returns the subscription unless its grant has ended: then it is removed, too. */
export async function standingOf(
  parts: Omit<SubscriptionParts, 'standing'>,
  found: PushSubscription | undefined,
): Promise<PushSubscription | undefined> {
  if (found === undefined || (await isMade(parts, found))) return found;
  await parts.stores.push.unsubscribe(found.id);
  return undefined;
}

/**
 * Calls `doubt` within a second of the revocation of the grant that made a subscription, within ten seconds of its
 * expiry, and when the store has been silent for some seconds. Returns a function that ends the watch. All watches share
 * the look at the revocations; only that for an expired grant reads the store. `mark`: taken before the subscription was
 * found to stand.
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
