/** How many run concurrently. More would delay everybody else's file operations, since all share a few threads. */
const FEW = 16;

/** Runs the work for each item, a few concurrently, starting in their order. */
export async function fewAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < items.length; first += FEW) {
    await Promise.all(items.slice(first, first + FEW).map(work));
  }
}
