import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Stored } from '../rules/stored.ts';

/** An answer that comes. */
export interface Arrival extends Placed {
  /** As it may be found once it is whole; undefined: not at all. */
  stored: Stored | undefined;
}

/**
 * The answers that are coming. What is removed while they come concerns them as well: they were asked for
 * before.
 */
export class Coming {
  readonly #all = new Bag<Arrival>();

  begin(stored: Stored): Arrival {
    const arrival: Arrival = { stored, place: -1 };
    this.#all.add(arrival);
    return arrival;
  }

  end(arrival: Arrival): void {
    this.#all.delete(arrival);
  }

  /** `soft`: they will be found outdated. */
  remove(matches: (stored: Stored) => boolean, soft: boolean): void {
    for (const arrival of this.#all.toArray()) {
      const { stored } = arrival;
      if (stored === undefined || !matches(stored)) continue;
      arrival.stored = soft ? { ...stored, outdated: true } : undefined;
    }
  }
}
