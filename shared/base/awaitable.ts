/** A value, or a promise of it. Each unnecessary promise costs a turn of the microtasks, ten for a request. */
export type Awaitable<T> = T | Promise<T>;

export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value;

/** Calls `goOn` with a value: at once if the value is no promise. */
export function andThen<T, U>(value: Awaitable<T>, goOn: (value: T) => Awaitable<U>): Awaitable<U> {
  return isPromise(value) ? value.then(goOn) : goOn(value);
}

/** Returns all of these values in their order: at once if none is a promise. */
export function allOf<T extends readonly unknown[]>(values: {
  readonly [K in keyof T]: Awaitable<T[K]>;
}): Awaitable<T> {
  return values.some(isPromise) ? Promise.all(values) : (values as unknown as T);
}

/** Returns the result of `work`, or what `failed` returns for its error, thrown or rejected. */
export function recover<T>(
  work: () => Awaitable<T>,
  failed: (error: unknown) => Awaitable<T>,
): Awaitable<T> {
  try {
    const value = work();
    return isPromise(value) ? value.catch(failed) : value;
  } catch (error) {
    return failed(error);
  }
}
