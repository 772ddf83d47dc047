import type { Run } from './measure.ts';
import { percentile } from './statistics.ts';

/**
 * Runs visits, `atOnce` at a time, each after the previous one. A rejected visit is an error. Ends early
 * when `visit` returns undefined.
 */
export async function closedLoop(
  visit: () => Promise<void> | undefined,
  atOnce: number,
  seconds: number,
): Promise<Run> {
  const began = performance.now();
  const end = began + seconds * 1000;
  const took: number[] = [];
  let errors = 0;
  async function visitor(): Promise<void> {
    for (let from = began; from < end; from = performance.now()) {
      const visiting = visit();
      if (visiting === undefined) return;
      const visited = await visiting.then(
        () => true,
        () => false,
      );
      if (visited) took.push(performance.now() - from);
      else errors += 1;
    }
  }
  await Promise.all(Array.from({ length: atOnce }, visitor));
  return {
    count: took.length,
    seconds: (performance.now() - began) / 1000,
    latency: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) },
    errors,
  };
}
