import type { Random } from '#shared/base/random.ts';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { Commands } from '../connection/connection.ts';
import type { Slots } from '../connection/slots.ts';
import { publicKeysInOneSlot } from './public-keys-in-one-slot.ts';
import { publicKeysInSlots } from './public-keys-in-slots.ts';

/** In one slot a key and its place are written at once, as older servers on the same store do. */
export function redisPublicKeys(
  redis: Commands,
  slots: Slots,
  random: Random,
  of = redis,
): PublicKeys {
  const [slot, ...others] = slots.all;
  return slot !== undefined && others.length === 0
    ? publicKeysInOneSlot(of, slot)
    : publicKeysInSlots(redis, slots, random, of);
}
