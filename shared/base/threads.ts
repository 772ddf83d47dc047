import { Worker } from 'node:worker_threads';
import { entryFile } from './entry.ts';

export type Octets = Uint8Array<ArrayBuffer>;

/** A function of a thread by its name, and what it is called with; the memory of that belongs to the thread. */
export interface Task {
  readonly operation: string;
  readonly args: readonly Octets[];
}

export interface ThreadsOptions {
  /** The file with `serveTasks` that each thread runs, as a path from the top without an extension. */
  readonly entry: string;
  /** The name in the error when a thread ended. */
  readonly title: string;
  /** How many run at most. */
  readonly threads: number;
  /** Tasks of one operation that may wait. */
  readonly most: number;
  /** Makes the error of a task for which the line has no place. */
  readonly tooMany: () => Error;
}

interface Job {
  readonly task: Task;
  readonly resolve: (result: Octets | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Threads for what would hold up the event loop. They start when they are needed first, keep no process from
 * ending, and are replaced when they end.
 */
export class Threads implements AsyncDisposable {
  readonly #options: ThreadsOptions;
  /** The waiting tasks of each operation. The line that is served next comes first. */
  readonly #lines = new Map<string, Job[]>();
  readonly #running = new Set<Worker>();
  readonly #idle: Worker[] = [];
  #serving = 0;
  #closed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  /** The threads that run now. */
  get running(): readonly Worker[] {
    return [...this.#running];
  }

  /** `args` stay as they are. */
  async run(operation: string, ...args: readonly Uint8Array[]): Promise<Buffer | undefined> {
    const line = this.#lines.get(operation) ?? [];
    if (this.#closed || line.length >= this.#options.most) throw this.#options.tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<Octets | undefined>();
    // In memory of their own, which is given away.
    const task = { operation, args: args.map((bytes) => new Uint8Array(bytes)) };
    line.push({ task, resolve, reject });
    this.#lines.set(operation, line);
    if (this.#serving < this.#options.threads) void this.#serve();
    const result = await promise;
    return result && Buffer.from(result.buffer);
  }

  /** Ends the threads. It refuses the waiting tasks, and all that come later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#lines.values()].flat()) job.reject(this.#options.tooMany());
    this.#lines.clear();
    await Promise.all(this.running.map((worker) => worker.terminate()));
  }

  /** Runs tasks on one thread as long as any wait. */
  async #serve(): Promise<void> {
    this.#serving += 1;
    let worker = this.#idle.pop();
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      try {
        if (worker === undefined || !this.#running.has(worker)) worker = this.#start();
        job.resolve(await this.#reply(worker, job.task));
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
    const worker = new Worker(entryFile(this.#options.entry), { env: {}, execArgv: [] });
    const ended = () => this.#running.delete(worker);
    worker.on('error', ended).once('exit', ended);
    this.#running.add(worker);
    return worker;
  }

  /** The result of a task. Rejects when the thread ends instead; a process does not end before. */
  async #reply(worker: Worker, task: Task): Promise<Octets | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Octets | undefined>();
    const ended = () => reject(new Error(`a ${this.#options.title} thread ended`));
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
}
