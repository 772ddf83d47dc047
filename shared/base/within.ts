import { setTimeout } from './safe-timers.ts';

/** Parts into which a deadline is divided. */
const PARTS = 4;

/**
 * Rejects if `work` takes longer than so many milliseconds. They pass in parts: a paused process loses only one part,
 * and then reads the input that arrived meanwhile.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout;
  const pass = (left: number): void => {
    const next = () =>
      left > 1 ? pass(left - 1) : deadline.reject(new Error(`no answer within ${milliseconds} ms`));
    timer = setTimeout(next, milliseconds / PARTS);
  };
  pass(PARTS);
  try {
    return await Promise.race([work, deadline.promise]);
  } finally {
    clearTimeout(timer!);
  }
}
