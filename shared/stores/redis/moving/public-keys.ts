import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { scan } from '../connection/scan.ts';
import { oneSlot } from '../connection/slots.ts';
import { publicKeyKeys } from '../credentials/public-keys-in-one-slot.ts';
import { publicKeysInSlots } from '../credentials/public-keys-in-slots.ts';
import type { Mover } from './move.ts';

/** The most keys of one owner: as many as there were. */
const MOST = Number.MAX_SAFE_INTEGER;

export const movePublicKeys: Mover = async ({ mine, redis, prefix, slots, random, count }) => {
  const publicKeys = publicKeysInSlots(mine, slots, random, mine);
  const before = publicKeyKeys(oneSlot(prefix).of(''));
  for await (const slice of scan(redis, before[0])) {
    const records = slice.map(([, text]): PublicKeyRecord => JSON.parse(text));
    await Promise.all(records.map((key) => publicKeys.add(key, MOST)));
    count(slice.length);
  }
  for (const key of before) await redis.durableCommand('DEL', key);
};
