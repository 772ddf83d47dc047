/** Milliseconds for any answer of Redis, opening the connection included. */
export const DEADLINE = 1000;

/** Rejects when `work` takes longer than that many milliseconds. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => deadline.reject(new Error(`no answer within ${milliseconds} ms`)),
    milliseconds,
  );
  try {
    return await Promise.race([work, deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}
