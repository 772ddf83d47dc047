import { setImmediate } from './safe-timers.ts';

/** Most callbacks that run in one turn of the event loop. */
const MOST = 32;

/**
 * Creates a queue. A waiting caller continues at once or, if there are many, with a few others in a later turn of the
 * event loop: all callers at once would delay all other work.
 */
export function fewATurn(most: number = MOST): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let room = most;

  function next(): void {
    const some = waiting.splice(0, most);
    room = most - some.length;
    if (some.length > 0) setImmediate(next);
    for (const go of some) go();
  }

  return () => {
    if (room === 0) return new Promise((resolve) => waiting.push(resolve));
    if (room === most) setImmediate(next);
    room -= 1;
    return Promise.resolve();
  };
}
