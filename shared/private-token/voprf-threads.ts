import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { portion } from '#shared/base/workers.ts';
import { entryFile } from '#shared/base/entry.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Random } from '#shared/base/random.ts';
import type { TokenKeyPair } from './token-key.ts';
import type { VoprfTask } from './voprf-thread.ts';
import { SEED, voprfKeyPair } from './voprf.ts';

const FILE = entryFile('shared/private-token/voprf-thread');

/**
 * Tasks in a line, for each thread. An evaluation with its proof and one without take about 25 ms: when both
 * lines are full the last wait for about two seconds.
 */
const WAITING = 80;

/** The issuer's functions of voprf.ts on threads. They reject with `HttpError` 503 when too many wait. */
export interface VoprfThreads extends AsyncDisposable {
  blindEvaluate(
    privateKey: Buffer,
    publicKey: Buffer,
    blinded: Buffer,
  ): Promise<Buffer | undefined>;
  evaluate(privateKey: Buffer, input: Buffer): Promise<Buffer>;
  generateKey(random: Random): Promise<TokenKeyPair>;
}

interface Job {
  readonly task: VoprfTask;
  readonly resolve: (result: Uint8Array | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

class Threads implements VoprfThreads {
  readonly #threads: number;
  readonly #most: number;
  /** What waits, for each operation. The line that is served next stands first. */
  readonly #lines = new Map<VoprfTask['operation'], Job[]>();
  readonly #running = new Set<Worker>();
  readonly #idle: Worker[] = [];
  #serving = 0;
  #closed = false;

  constructor(threads: number, most: number) {
    this.#threads = threads;
    this.#most = most;
  }

  /** The threads that run now. */
  get running(): readonly Worker[] {
    return [...this.#running];
  }

  async blindEvaluate(
    privateKey: Buffer,
    publicKey: Buffer,
    blinded: Buffer,
  ): Promise<Buffer | undefined> {
    const args = [octets(privateKey), octets(publicKey), octets(blinded)] as const;
    const result = await this.#result({ operation: 'blindEvaluate', args });
    return result && Buffer.from(result);
  }

  async evaluate(privateKey: Buffer, input: Buffer): Promise<Buffer> {
    const args = [octets(privateKey), octets(input)] as const;
    return Buffer.from((await this.#result({ operation: 'evaluate', args })) as Uint8Array);
  }

  async generateKey(random: Random): Promise<TokenKeyPair> {
    const args = [octets(random(SEED))] as const;
    const result = await this.#result({ operation: 'deriveKeyPair', args });
    return voprfKeyPair(Buffer.from(result as Uint8Array));
  }

  /** Ends the threads. What waits, and whatever comes later, is refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#lines.values()].flat()) job.reject(tooMany());
    this.#lines.clear();
    await Promise.all(this.running.map((worker) => worker.terminate()));
  }

  async #result(task: VoprfTask): Promise<Uint8Array | undefined> {
    const line = this.#lines.get(task.operation) ?? [];
    if (this.#closed || line.length >= this.#most) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
    line.push({ task, resolve, reject });
    this.#lines.set(task.operation, line);
    if (this.#serving < this.#threads) void this.#serve();
    return promise;
  }

  /** What one thread does as long as anything waits. */
  async #serve(): Promise<void> {
    this.#serving += 1;
    let worker = this.#idle.pop();
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      try {
        if (worker === undefined || !this.#running.has(worker)) worker = this.#start();
        job.resolve(await reply(worker, job.task));
      } catch (error) {
        job.reject(error);
      }
    }
    if (worker !== undefined) this.#idle.push(worker);
    this.#serving -= 1;
  }

  /** The lines are served in turn: what takes long does not hold up what is quick. */
  #next(): Job | undefined {
    const [first] = this.#lines;
    if (first === undefined) return undefined;
    const [operation, line] = first;
    const job = line.shift();
    this.#lines.delete(operation);
    if (line.length > 0) this.#lines.set(operation, line);
    return job;
  }

  #start(): Worker {
    const worker = new Worker(FILE, { env: {}, execArgv: [] });
    const ended = () => this.#running.delete(worker);
    worker.on('error', ended).once('exit', ended);
    this.#running.add(worker);
    return worker;
  }
}

/** The result of a task. Rejects when the thread ends instead; a process does not end before. */
async function reply(worker: Worker, task: VoprfTask): Promise<Uint8Array | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
  const ended = () => reject(new Error('a VOPRF thread ended'));
  worker.once('message', resolve).once('error', reject).once('exit', ended);
  worker.ref();
  try {
    worker.postMessage(
      task,
      task.args.map(({ buffer }) => buffer),
    );
    return await promise;
  } finally {
    worker.off('message', resolve).off('error', reject).off('exit', ended);
    worker.unref();
  }
}

/** In memory of their own, which is given away. */
function octets(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function tooMany(): HttpError {
  return new HttpError(503, 'Too many ask for tokens at the moment: try again in a second.', {
    'Retry-After': '1',
  });
}

/**
 * `threads` start when they are needed first, keep no process from ending, and are replaced when they
 * end. Of each operation `most` tasks wait.
 */
export function openVoprfThreads({
  threads = portion(availableParallelism() - 1),
  most = threads * WAITING,
}: { threads?: number; most?: number } = {}): Threads {
  return new Threads(threads, most);
}
