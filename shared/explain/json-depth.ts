/** Matches brackets and braces of JSON, and strings, in which these have no meaning. */
const MARKS = /"(?:[^"\\]|\\.)*"?|[[\]{}]/gs;

/** Returns how deep the arrays and objects of a JSON text are nested, in linear time and without recursion. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of text.matchAll(MARKS)) {
    if (mark === '[' || mark === '{') deepest = Math.max(deepest, (depth += 1));
    else if (mark === ']' || mark === '}') depth -= 1;
  }
  return deepest;
}
