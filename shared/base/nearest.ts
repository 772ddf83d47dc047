/** Words that differ by more than a third of their letters are not slips of one another. */
const SHARE = 3;

/**
 * The member of `known` that a person probably meant by `word`: it begins with it, or differs by the fewest letters
 * (Levenshtein), a third of them at most. Undefined: none is near.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const begun = known.filter((one) => one.startsWith(word));
  if (word !== '' && begun.length === 1) return begun[0];
  const [best] = known
    .map((one) => ({ one, distance: distance(word, one) }))
    .filter((near) => near.distance <= Math.min(word.length, near.one.length) / SHARE)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.one;
}

/** How many letters have to be added, removed or replaced to turn one word into the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const next = [at];
    for (let other = 1; other <= to.length; other += 1) {
      const replaced = (row[other - 1] ?? 0) + (from[at - 1] === to[other - 1] ? 0 : 1);
      next.push(Math.min((row[other] ?? 0) + 1, (next[other - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
