/** `shared/base/awaitable.ts`, where everything waits. */
import type * as short from '#shared/base/awaitable.ts';

export const isPromise: typeof short.isPromise = <T>(
  value: short.Awaitable<T>,
): value is Promise<T> => value instanceof Promise;

export const andThen: typeof short.andThen = async (value, goOn) => goOn(await value);

export const recover: typeof short.recover = async (work, failed) => {
  try {
    return await work();
  } catch (error) {
    return failed(error);
  }
};
