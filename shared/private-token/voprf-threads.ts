import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { Turn } from '#shared/base/line.ts';
import { Threads } from '#shared/base/threads.ts';
import { portion } from '#shared/base/workers.ts';
import { HttpError } from '#shared/http/answer.ts';

/**
 * Waiting tasks for each thread. A task takes at most 17 ms, so with a full line the last one waits for 1.4 seconds.
 */
const WAITING = 80;

/** The issuer's functions of voprf.ts, run on threads. They reject with `HttpError` 503 if too many tasks wait. */
export interface VoprfThreads extends AsyncDisposable {
  /** The threads that run now. */
  readonly running: readonly Worker[];
  blindEvaluate(
    turn: Turn,
    privateKey: Buffer,
    publicKey: Buffer,
    blinded: Buffer,
  ): Promise<Buffer | undefined>;
  evaluate(turn: Turn, privateKey: Buffer, input: Buffer): Promise<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
}

function tooMany(): HttpError {
  return new HttpError(503, 'Too many ask for tokens at the moment: try again in a second.', {
    'Retry-After': '1',
  });
}

/** Opens threads: at most `threads` run, and at most `most` tasks wait. */
export function openVoprfThreads({
  threads = portion(availableParallelism() - 1),
  most = threads * WAITING,
}: { threads?: number; most?: number } = {}): VoprfThreads {
  const entry = 'shared/private-token/voprf-thread';
  const line = new Threads({ entry, title: 'VOPRF', threads, most, tooMany });
  return {
    get running() {
      return line.running;
    },
    blindEvaluate: (turn, privateKey, publicKey, blinded) =>
      line.run(turn, 'blindEvaluate', privateKey, publicKey, blinded),
    evaluate: async (turn, privateKey, input) =>
      (await line.run(turn, 'evaluate', privateKey, input)) as Buffer,
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  };
}
