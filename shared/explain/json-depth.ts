/** Matches what opens or closes a level of JSON, and strings, in which braces mean nothing. */
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
