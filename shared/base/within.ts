import { setTimeout } from './safe-timers.ts';

/** Parts of a deadline. */
const PARTS = 4;

/**
 * Rejects when `work` takes longer than that many milliseconds. They pass in parts: a process that was paused (stopped, or
 * its machine busy) has lost only one part, and reads the meanwhile arrived input before the next.
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
