const waiting: (() => void)[] = [];

/**
 * Has it done when all that came in this turn of the event loop was read, in the order of the calls. One after
 * another the same steps cost less: half, for a short answer, of what they cost between reading and reading.
 */
export function atTurnsEnd(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(doAll);
}

/** What they ask for meanwhile waits for the next turn. */
function doAll(): void {
  for (const work of waiting.splice(0)) work();
}
