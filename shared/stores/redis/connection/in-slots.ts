import { digestOf } from './digest.ts';
import type { Slots } from './slots.ts';

/** One thing for each slot. */
export interface InSlots<T> {
  readonly all: readonly T[];
  /** Returns the one for an id that somebody else may choose: the slot is that of its digest. */
  of(id: string): T;
}

export function inSlots<T>(slots: Slots, make: (slot: string) => T): InSlots<T> {
  const bySlot = new Map(slots.all.map((slot) => [slot, make(slot)]));
  return {
    all: [...bySlot.values()],
    of(id) {
      const found = bySlot.get(slots.of(digestOf(id)));
      if (found === undefined) throw new Error('an id has a slot that is none of all');
      return found;
    },
  };
}
