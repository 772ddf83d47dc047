import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { Push } from '#shared/stores/push/push.ts';
import type { Commands } from '../connection/connection.ts';
import type { Slots } from '../connection/slots.ts';
import { pushInOneSlot } from './push-in-one-slot.ts';
import { pushInSlots } from './push-in-slots.ts';

/** In one slot all is written at once, as older servers on the same store do. */
export function redisPush(redis: Commands, slots: Slots, clock: Clock, random: Random): Push {
  const [slot, ...others] = slots.all;
  return slot !== undefined && others.length === 0
    ? pushInOneSlot(redis, slot, clock)
    : pushInSlots(redis, slots, clock, random);
}
