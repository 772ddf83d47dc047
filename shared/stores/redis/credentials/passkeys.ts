import { byOctets } from '#shared/base/name-range.ts';
import type { PasskeyRecord, Passkeys } from '#shared/stores/credentials/passkeys.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import type { Claims } from '../claims/claims.ts';
import type { Commands } from '../connection/connection.ts';
import { firstOf } from '../connection/first-of.ts';
import { placeOf } from '../connection/passkey-places.ts';
import type { Slots } from '../connection/slots.ts';
import { passkeysOfSlot } from './passkeys-of-slot.ts';

/** Passkeys are in the slots of their people. A claim to the id leads there (`claims/`): nobody else may have it. */
export function redisPasskeys(redis: Commands, slots: Slots, claims: Claims): Passkeys {
  const of = (accountId: string, through = redis) =>
    passkeysOfSlot(through, claims.slotOf(accountId));
  const thingOf = (id: string) => ({ kind: 'passkey', value: id }) as const;
  /** Those who may have it: of several one has. */
  const owners = (id: string) => claims.owners(thingOf(id));
  const all = slots.all.map((slot) => passkeysOfSlot(redis, slot));
  const inOrder = (a: PasskeyRecord, b: PasskeyRecord) => byOctets(placeOf(a), placeOf(b));
  const release = (accountId: string, ...ids: readonly string[]) =>
    claims.release(accountId, ids.map(thingOf));

  return {
    async add(passkey, most) {
      const { id, accountId } = passkey;
      const wanted = { ...thingOf(id), alone: true, former: 'reused' } as const;
      const added = await claims.claiming(accountId, [wanted], (within) =>
        of(accountId, within(redis)).add(passkey, most),
      );
      if (added === 'full') await release(accountId, id);
      return added ?? 'taken';
    },
    async get(id) {
      for (const accountId of await owners(id)) {
        const found = await of(accountId).get(id);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    of: (accountId) => of(accountId).of(accountId),
    list: () =>
      slices<PasskeyRecord>((after) =>
        firstOf(
          all.map(
            (part) =>
              (last = after, most) =>
                part.after(last, most),
          ),
          inOrder,
          SLICE,
        ),
      ),
    async use(id, use) {
      for (const accountId of await owners(id)) {
        const outcome = await of(accountId).use(id, use);
        if (outcome !== 'gone') return outcome;
      }
      return 'gone';
    },
    rename: (accountId, id, name) => of(accountId).rename(accountId, id, name),
    async remove(accountId, id, least) {
      const outcome = await of(accountId).remove(accountId, id, least);
      if (outcome !== 'last') await release(accountId, id);
      return outcome;
    },
    async removeAll(accountId) {
      const theirs = await of(accountId).of(accountId);
      await of(accountId).removeAll(accountId);
      await release(accountId, ...theirs.map(({ id }) => id));
    },
  };
}
