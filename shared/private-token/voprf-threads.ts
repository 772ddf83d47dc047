import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { Threads } from '#shared/base/threads.ts';
import { portion } from '#shared/base/workers.ts';
import { HttpError } from '#shared/http/answer.ts';

/**
 * Tasks in a line, for each thread. An evaluation with its proof and one without take about 25 ms: when both
 * lines are full the last wait for about two seconds.
 */
const WAITING = 80;

/** The issuer's functions of voprf.ts on threads. They reject with `HttpError` 503 when too many wait. */
export interface VoprfThreads extends AsyncDisposable {
  /** The threads that run now. */
  readonly running: readonly Worker[];
  blindEvaluate(
    privateKey: Buffer,
    publicKey: Buffer,
    blinded: Buffer,
  ): Promise<Buffer | undefined>;
  evaluate(privateKey: Buffer, input: Buffer): Promise<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
}

function tooMany(): HttpError {
  return new HttpError(503, 'Too many ask for tokens at the moment: try again in a second.', {
    'Retry-After': '1',
  });
}

/** `threads` run at most; of each operation `most` tasks wait. */
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
    blindEvaluate: (privateKey, publicKey, blinded) =>
      line.run('blindEvaluate', privateKey, publicKey, blinded),
    evaluate: async (privateKey, input) =>
      (await line.run('evaluate', privateKey, input)) as Buffer,
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  };
}
