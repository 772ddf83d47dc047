import { Worker } from 'node:worker_threads';
import { entryFile } from './entry.ts';
import { Line, type Turn } from './line.ts';

export type Octets = Uint8Array<ArrayBuffer>;

/** The name of a thread's function and its arguments, whose memory is transferred to the thread. */
export interface Task {
  readonly operation: string;
  readonly args: readonly Octets[];
}

export interface ThreadsOptions {
  /** The file with `serveTasks` that each thread runs, as a path from the root without an extension. */
  readonly entry: string;
  /** The name of the work in the error for a thread that ended. */
  readonly title: string;
  /** The most tasks that run at a time. */
  readonly threads: number;
  /** The most tasks that may wait. */
  readonly most: number;
  /** Makes the error of a task for which the line has no place. */
  readonly tooMany: () => Error;
}

/**
 * Threads for work that would block the event loop. They start at the first task, do not keep the process running,
 * and are replaced when they end.
 */
export class Threads implements AsyncDisposable {
  readonly #options: ThreadsOptions;
  readonly #line: Line;
  readonly #running = new Set<Worker>();
  readonly #idle: Worker[] = [];

  constructor(options: ThreadsOptions) {
    this.#options = options;
    const { threads: lanes, most, tooMany } = options;
    this.#line = new Line({ lanes, most, tooMany });
  }

  /** The threads that run now. */
  get running(): readonly Worker[] {
    return [...this.#running];
  }

  /** Runs a task. Operations run in rotation, and so do the callers of one operation. `args` are not changed. */
  async run(
    { groups, client }: Turn,
    operation: string,
    ...args: readonly Uint8Array[]
  ): Promise<Buffer | undefined> {
    // The copies have memory of their own, which is transferred to the thread.
    const task = { operation, args: args.map((bytes) => new Uint8Array(bytes)) };
    const turn = { groups: [operation, ...groups], client };
    const result = await this.#line.run(turn, () => this.#do(task));
    return result && Buffer.from(result.buffer);
  }

  /** Ends the threads. It refuses waiting and later tasks. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#line.close();
    await Promise.all(this.running.map((worker) => worker.terminate()));
  }

  async #do(task: Task): Promise<Octets | undefined> {
    const idle = this.#idle.pop();
    const worker = idle && this.#running.has(idle) ? idle : this.#start();
    try {
      return await this.#reply(worker, task);
    } finally {
      this.#idle.push(worker);
    }
  }

  #start(): Worker {
    const worker = new Worker(entryFile(this.#options.entry), { env: {}, execArgv: [] });
    const ended = () => this.#running.delete(worker);
    worker.on('error', ended).once('exit', ended);
    this.#running.add(worker);
    return worker;
  }

  /** Resolves to the result of a task. Rejects if the thread ends first; until then the process keeps running. */
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
