import type { Awaitable } from './awaitable.ts';

/**
 * Returns a function that collects requests until `when` calls, processes all of them together, and resolves each
 * caller to its own result. The requests keep their order.
 */
export function batched<T, R>(
  when: (work: () => void) => void,
  doAll: (all: readonly T[]) => Promise<readonly Awaitable<R>[]>,
): (one: T) => Promise<R> {
  let next: { readonly all: T[]; readonly results: Promise<readonly Awaitable<R>[]> } | undefined;
  function begin() {
    const all: T[] = [];
    const end = () => {
      next = undefined;
      return doAll(all);
    };
    const results = new Promise<readonly Awaitable<R>[]>((resolve) => when(() => resolve(end())));
    return { all, results };
  }
  return async (one) => {
    next ??= begin();
    const place = next.all.push(one) - 1;
    return (await next.results)[place] as Awaitable<R>;
  };
}
