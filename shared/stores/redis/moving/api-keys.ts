import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { scan } from '../connection/scan.ts';
import { oneSlot } from '../connection/slots.ts';
import { redisApiKeys } from '../credentials/api-keys.ts';
import { apiKeyKeys } from '../credentials/api-keys-of-slot.ts';
import type { Mover } from './move.ts';

export const moveApiKeys: Mover = async ({ redis, mine, prefix, slots, count }) => {
  const apiKeys = redisApiKeys(mine, slots);
  const before = apiKeyKeys(oneSlot(prefix).of(''));
  for await (const slice of scan(redis, before[0])) {
    await Promise.all(slice.map(([, text]) => apiKeys.add(JSON.parse(text) as ApiKeyRecord)));
    count(slice.length);
  }
  for (const key of before) await redis.durableCommand('DEL', key);
};
