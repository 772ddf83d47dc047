import type { Stores } from '../../stores.ts';

/** Many attempts at one change, by several processes at once. Each attempt returns whether it won. */
export interface Race {
  /** Stores the row that the attempts are about, and returns its id. */
  readonly prepare: (stores: Stores) => Promise<string>;
  readonly attempt: (stores: Stores, key: string) => Promise<boolean>;
  /** The number of attempts that win, however many there are. */
  readonly winners: number;
}

export type Races = Readonly<Record<string, Race>>;

/** The number of winners in races for a limited number of places. */
export const BURST = 20;
