/** Random integers from 0 to below `limit`, by mulberry32. */
export type Dice = (limit: number) => number;

export function dice(seed: number): Dice {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** A random element of the list. */
export const pick = <One>(roll: Dice, list: readonly [One, ...One[]]): One =>
  list[roll(list.length)] ?? list[0];
