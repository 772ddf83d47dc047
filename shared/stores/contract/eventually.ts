import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE = 60_000;

/** Asks again until `question` neither throws nor rejects, for a minute at most. */
export async function eventually<T>(question: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(5);
  }
}
