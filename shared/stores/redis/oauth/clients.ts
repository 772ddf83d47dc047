import { byOctets, type NameRange } from '#shared/base/name-range.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import type { Commands } from '../connection/connection.ts';
import { firstOf, type ReadPart } from '../connection/first-of.ts';
import { inSlots } from '../connection/in-slots.ts';
import type { Slots } from '../connection/slots.ts';
import { type ClientKeys, clientsOfSlot } from './clients-of-slot.ts';

/**
 * Clients are in the slots of the digests of their ids, since operators and authors of documents choose these. A list
 * of all is put together from those of the slots.
 */
export function redisClients(redis: Commands, slots: Slots): Clients {
  const { all, of } = inSlots(slots, (slot) => clientsOfSlot(redis, clientKeysOf(slot)));
  const partsOf = (range: NameRange) =>
    all.map(
      (part): ReadPart<string> =>
        (after = range.after, limit) =>
          part.ids({ ...range, after, limit }),
    );

  return {
    add: (client) => of(client.client_id).add(client),
    get: (clientId) => of(clientId).get(clientId),
    async page(range) {
      for (;;) {
        const ids = await firstOf(partsOf(range), byOctets, range.limit);
        const clients = await Promise.all(ids.map((id) => of(id).get(id)));
        // One was removed in between, which another one behind it takes the place of.
        if (clients.every((client): client is ClientRecord => client !== undefined)) return clients;
      }
    },
    list: async () => (await Promise.all(all.map((part) => part.list()))).flat(),
    async withKey(keyId) {
      const found = await Promise.all(all.map((part) => part.withKey(keyId)));
      return found.flat().toSorted(byOctets);
    },
    replace: (client, was) => of(client.client_id).replace(client, was),
    remove: (clientId, was) => of(clientId).remove(clientId, was),
  };
}

const clientKeysOf = (slot: string): ClientKeys => [
  `${slot}:clients`,
  `${slot}:clients:order`,
  `${slot}:clients:keys`,
  `${slot}:clients:by-key`,
];
