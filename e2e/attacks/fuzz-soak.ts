import { startPair } from '../pair/pair.ts';
import { fuzz } from './fuzz.ts';
import { liveHeap } from './live-heap.ts';

/** The number of requests in each half of the soak. */
const REQUESTS = 150_000;
const FRAMES = 1_000_000;
/** The longest wait in milliseconds that a well-behaved client may have. */
const STALL = 1000;
/** Bytes by which the live heap of a process may grow in the second half. */
const GROWTH = 8 * 1024 * 1024;

/**
 * Fuzzes both servers. A failure names the seed, which repeats the run. Rejects for slow answers and for a
 * growing heap.
 */
export async function soakFuzz(seed: number, say: (line: string) => void): Promise<void> {
  await using pair = await startPair();
  const held: number[][] = [];
  for (const half of [seed, -seed]) {
    const outcome = await fuzz(pair, {
      seed: half,
      requests: REQUESTS,
      frames: FRAMES,
      progress: (requests, frames) => say(`seed ${half}: ${requests} requests, ${frames} frames`),
    });
    say(JSON.stringify(outcome));
    if (outcome.slowest > STALL) throw new Error(`seed ${half}: a stall of ${outcome.slowest} ms`);
    const servers = [...pair.authz, ...pair.resources];
    // Measures one process after another, because all use the same inspector port.
    const bytes: number[] = [];
    for (const server of servers) bytes.push(await liveHeap(server));
    held.push(bytes);
  }
  say(`bytes held after each half: ${JSON.stringify(held)}`);
  const [before = [], after = []] = held;
  const grown = after.map((bytes, index) => bytes - (before[index] ?? 0));
  if (Math.max(...grown) > GROWTH) throw new Error(`seed ${seed}: memory stays: ${grown.join()}`);
}
