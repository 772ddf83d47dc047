/** Most mistakes that one message lists. */
const MOST = 20;

/** Returns the lines of a message about mistakes: the first ones, and how many more there are. */
export function firstMistakes(all: readonly string[]): readonly string[] {
  const more = all.length - MOST;
  return more > 0 ? [...all.slice(0, MOST), `  and ${more} more`] : all;
}
