/** Replaces `shared/base/awaitable.ts`: every value is awaited. */
import type * as short from '#shared/base/awaitable.ts';

const long: typeof short = {
  isPromise: <T>(value: short.Awaitable<T>): value is Promise<T> => value instanceof Promise,
  andThen: async (value, goOn) => goOn(await value),
  allOf: (values) => Promise.all(values),
  async recover(work, failed) {
    try {
      return await work();
    } catch (error) {
      return failed(error);
    }
  },
};

export const { isPromise, andThen, allOf, recover } = long;
