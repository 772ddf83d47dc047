import { byOctets } from '#shared/base/name-range.ts';
import { byApplicationThenAge } from '#shared/stores/credentials/api-key-changes.ts';
import type { ApiKeyPlace, ApiKeyRecord, ApiKeys } from '#shared/stores/credentials/api-keys.ts';
import type { Commands } from '../connection/connection.ts';
import { firstOf, type ReadPart } from '../connection/first-of.ts';
import { inSlots } from '../connection/in-slots.ts';
import type { Slots } from '../connection/slots.ts';
import { apiKeysOfSlot } from './api-keys-of-slot.ts';

/** API keys are in the slots of the digests of their ids, since files that are applied or imported choose these. */
export function redisApiKeys(redis: Commands, slots: Slots): ApiKeys {
  const { all, of } = inSlots(slots, (slot) => apiKeysOfSlot(redis, slot));
  return {
    add: (key) => of(key.id).add(key),
    get: (id) => of(id).get(id),
    page({ limit, after: from }) {
      const readers = all.map(
        (part): ReadPart<ApiKeyRecord> =>
          (after, count) =>
            part.page({ limit: count, after: after ?? from }),
      );
      return firstOf(readers, byPlace, limit);
    },
    list: async () =>
      (await Promise.all(all.map((part) => part.all()))).flat().toSorted(byApplicationThenAge),
    replace: (key, was) => of(key.id).replace(key, was),
    expire: (id, at) => of(id).expire(id, at),
    touch: (id, at) => of(id).touch(id, at),
    remove: (id) => of(id).remove(id),
  };
}

/** The order of `page`. */
const byPlace = (a: ApiKeyPlace, b: ApiKeyPlace): number =>
  byOctets(a.application, b.application) || a.created_at - b.created_at || byOctets(a.id, b.id);
