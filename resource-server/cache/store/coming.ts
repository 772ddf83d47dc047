import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Stored } from '../rules/stored.ts';

/** An answer that is arriving. */
export interface Arrival extends Placed {
  /** The answer as it will be found once it is whole. Undefined: it was removed and will not be stored. */
  stored: Stored | undefined;
}

/** The answers that are arriving. A removal concerns them as well, since they were requested before it. */
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

  /** Applies a removal to arriving answers. `soft`: they will be outdated. */
  remove(matches: (stored: Stored) => boolean, soft: boolean): void {
    for (const arrival of this.#all.toArray()) {
      const { stored } = arrival;
      if (stored === undefined || !matches(stored)) continue;
      arrival.stored = soft ? { ...stored, outdated: true } : undefined;
    }
  }
}
