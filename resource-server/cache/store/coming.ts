import type { Stored } from '../rules/stored.ts';

/** An answer that comes. */
export interface Arrival {
  /** As it may be found once it is whole; undefined: not at all. */
  stored: Stored | undefined;
}

/**
 * The answers that are coming. What is removed while they come concerns them as well: they were asked for
 * before.
 */
export class Coming {
  readonly #all = new Set<Arrival>();

  begin(stored: Stored): Arrival {
    const arrival = { stored };
    this.#all.add(arrival);
    return arrival;
  }

  end(arrival: Arrival): void {
    this.#all.delete(arrival);
  }

  /** `soft`: they will be found outdated. */
  remove(matches: (stored: Stored) => boolean, soft: boolean): void {
    for (const arrival of this.#all) {
      const { stored } = arrival;
      if (stored === undefined || !matches(stored)) continue;
      arrival.stored = soft ? { ...stored, outdated: true } : undefined;
    }
  }
}
