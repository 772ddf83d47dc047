import type { Stores } from '../../stores.ts';

/** Many attempts at one thing, by several processes at once; each says whether it won. */
export interface Race {
  /** Puts there what the attempts are about, and names it. */
  readonly prepare: (stores: Stores) => Promise<string>;
  readonly attempt: (stores: Stores, key: string) => Promise<boolean>;
  /** How many attempts win, whatever their number. */
  readonly winners: number;
}

export type Races = Readonly<Record<string, Race>>;

/** How many win where there is room for some. */
export const BURST = 20;
