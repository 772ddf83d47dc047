/** At once: more would keep everybody else's files waiting, since all share few threads. */
const FEW = 16;

/** Does the work for each, a few at a time, in their order. */
export async function fewAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < items.length; first += FEW) {
    await Promise.all(items.slice(first, first + FEW).map(work));
  }
}
