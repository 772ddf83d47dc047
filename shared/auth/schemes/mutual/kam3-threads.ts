import { availableParallelism } from 'node:os';
import type { Turn } from '#shared/base/line.ts';
import { Threads } from '#shared/base/threads.ts';
import { portion } from '#shared/base/workers.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { MutualAlgorithmName } from './algorithms.ts';
import type { Kam3 } from './kam3.ts';

/** How many tasks may wait for each thread. 80 key exchanges take from 0.2 s (P-256) to 6 s (4096 bits). */
const WAITING = 80;
const THREADS = portion(availableParallelism() - 1);

/** The single queue of a process, shared by all callers. */
const threads = new Threads({
  entry: 'shared/auth/schemes/mutual/kam3-thread',
  title: 'KAM3',
  threads: THREADS,
  most: THREADS * WAITING,
  tooMany: () =>
    new HttpError(503, 'Too many exchanges of keys are under way: try again in a second.', {
      'Retry-After': '1',
    }),
});

/**
 * The functions of kam3.ts, run on threads, since an exchange takes from 2 ms of a processor (P-256) to 70 ms (4096
 * bits). They reject with `HttpError` 503 if too many tasks wait.
 */
export const kam3Threads = {
  verifier: async (turn: Turn, algorithm: MutualAlgorithmName, pi: Buffer) =>
    (await threads.run(turn, `verifier ${algorithm}`, pi)) as Buffer,

  async exchange(
    turn: Turn,
    algorithm: MutualAlgorithmName,
    ...args: Parameters<Kam3['exchange']>
  ): Promise<{ readonly serverValue: Buffer; readonly z: Buffer } | undefined> {
    const both = await threads.run(
      turn,
      `exchange ${algorithm}`,
      ...args.filter((arg) => arg !== undefined),
    );
    const half = both && both.length / 2;
    return both && { serverValue: both.subarray(0, half), z: both.subarray(half) };
  },
};

export type Kam3Threads = typeof kam3Threads;
