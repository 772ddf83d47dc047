import { startPair } from '../pair/pair.ts';
import { fuzz } from './fuzz.ts';
import { liveHeap } from './live-heap.ts';

/** The size of each half. */
const REQUESTS = 150_000;
const FRAMES = 1_000_000;
/** Milliseconds that somebody well-behaved waits at most. */
const STALL = 1000;
/** Bytes by which what a process holds may grow in the second half. */
const GROWTH = 8 * 1024 * 1024;

/** Fuzzes both servers; a failure names the seed, which repeats it. Rejects for stalls and memory that stays. */
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
    // One after the other: they have the inspector's port in turn.
    const bytes: number[] = [];
    for (const server of servers) bytes.push(await liveHeap(server));
    held.push(bytes);
  }
  say(`bytes held after each half: ${JSON.stringify(held)}`);
  const [before = [], after = []] = held;
  const grown = after.map((bytes, index) => bytes - (before[index] ?? 0));
  if (Math.max(...grown) > GROWTH) throw new Error(`seed ${seed}: memory stays: ${grown.join()}`);
}
