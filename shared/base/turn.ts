const waiting: (() => void)[] = [];
/** The turn whose work is being done; undefined: none. */
let turn: object | undefined;

/**
 * Does the work after everything that came in this turn of the event loop was read, in the order of the calls. The
 * same steps cost less one after another: for a short answer, half of their cost between two reads.
 */
export function atTurnsEnd(work: () => void): void {
  if (waiting.push(work) > 1) return;
  setImmediate(doAll);
  // This runs next, after the promises of that work: nothing else has come in by then.
  setImmediate(() => (turn = undefined));
}

/** Runs the work of this turn. Work that it asks for meanwhile waits for the next turn. */
function doAll(): void {
  turn = {};
  for (const work of waiting.splice(0)) work();
}

/**
 * Returns `look` with one answer for all work that `atTurnsEnd` does in one turn. All of this work had come before the
 * first of it asked, so each gets an answer from after it came. Outside `atTurnsEnd` each call looks anew.
 */
export function oncePerTurn<T>(look: () => T): () => T {
  let seen: { readonly turn: object; readonly value: T } | undefined;
  return () => {
    if (turn === undefined) return look();
    if (seen?.turn !== turn) seen = { turn, value: look() };
    return seen.value;
  };
}
