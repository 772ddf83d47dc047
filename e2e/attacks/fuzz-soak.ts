import { startPair } from '../parts/pair.ts';
import { fuzz } from './fuzz.ts';

const REQUESTS = 300_000;
const FRAMES = 2_000_000;
/** Milliseconds that somebody well-behaved waits at most. */
const STALL = 1000;
/** Bytes by which a process may grow in the second half. */
const GROWTH = 64 * 1024 * 1024;

/** Fuzzes both servers; a failure names the seed, which repeats it. Rejects for stalls and memory that stays. */
export async function soakFuzz(seed: number, say: (line: string) => void): Promise<void> {
  await using pair = await startPair();
  const outcome = await fuzz(pair, {
    seed,
    requests: REQUESTS,
    frames: FRAMES,
    progress: (requests, frames) => say(`seed ${seed}: ${requests} requests, ${frames} frames`),
  });
  say(JSON.stringify(outcome));
  if (outcome.slowest > STALL) throw new Error(`seed ${seed}: a stall of ${outcome.slowest} ms`);
  const grown = outcome.memory.map(([half, end]) => end - half);
  if (Math.max(...grown) > GROWTH) throw new Error(`seed ${seed}: memory stays: ${grown.join()}`);
}
