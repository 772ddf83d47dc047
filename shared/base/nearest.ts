/** Words that differ in more than a third of their letters are not considered typing errors. */
const SHARE = 3;

/**
 * Returns the member of `known` that a person probably meant by `word`. Either it begins with `word`, or it differs
 * in the fewest letters (Levenshtein), at most a third of them. Returns undefined if no member is near.
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

/** Returns how many letters must be added, removed or replaced to turn one word into the other. */
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
