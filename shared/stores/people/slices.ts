/** Rows at a time. */
export const SLICE = 250;

/** Yields the slices that `next` finds, each after the last row of the one before, until it finds nothing. */
export async function* slices<T>(
  next: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let slice = await next(undefined); slice.length > 0; slice = await next(slice.at(-1))) {
    yield slice;
  }
}
