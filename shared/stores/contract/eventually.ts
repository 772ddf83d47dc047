import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE = 60_000;

/**
 * Asks again until `question` neither throws nor rejects, for a minute at most. It asks every 5 ms at first, and less
 * often later: a twentieth of the wait so far lies between two questions.
 */
export async function eventually<T>(question: () => T | Promise<T>): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const waited = performance.now() - begin;
    try {
      return await question();
    } catch (error) {
      if (waited > PATIENCE) throw error;
    }
    await delay(Math.max(5, waited / 20));
  }
}
