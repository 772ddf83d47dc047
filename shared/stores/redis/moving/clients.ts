import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { scan } from '../connection/scan.ts';
import { clientKeysOf, clientKeysOfOneSlot, redisClients } from '../oauth/clients.ts';
import type { Mover } from './move.ts';

export const moveClients: Mover = async ({ redis, mine, prefix, slots, count }) => {
  const clients = redisClients(mine, slots, clientKeysOf);
  const before = clientKeysOfOneSlot(prefix);
  for await (const slice of scan(redis, before[0])) {
    await Promise.all(slice.map(([, text]) => clients.add(JSON.parse(text) as ClientRecord)));
    count(slice.length);
  }
  for (const key of before) await redis.durableCommand('DEL', key);
};
