import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The environment of our Node processes, without this process's variables.
 * NODE_OPTIONS=--enable-source-maps names the source in stack traces.
 */
export const NODE: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NODE_OPTIONS: process.env['NODE_OPTIONS'],
};

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Returns whether the process is ready. Called repeatedly; a rejection means not yet. */
  ready(output: string): boolean | Promise<boolean>;
  /** Milliseconds until the process must be ready; default: 60 000. */
  readonly patience?: number;
}

/** A child process with its output, which is ended by its own pid. */
export class RunningProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, 'close').catch(() => undefined);
    const collect = (chunk: Buffer) => {
      this.#output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Standard output and standard error so far. */
  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Null while the process runs, and if a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Sends a signal. After a signal that ends the process, wait for `exited`. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Stops reading the output, so that the process's writes fail. */
  hangUp(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Resolves when the process has ended. */
  async exited(): Promise<void> {
    if (this.running) await this.#exited;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    this.signal(signal);
    await this.exited();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** Starts a program and resolves when it is ready; rejects with its output if it ends or takes too long. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<RunningProcess> {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = new RunningProcess(child);
  await once(child, 'spawn');
  try {
    await until(async () => {
      if (!started.running) throw new Ended(`${command} ended: ${started.output}`);
      return options.ready(started.output);
    }, options.patience);
    return started;
  } catch (error) {
    await started.kill();
    throw new Error(`${command} ${args.join(' ')} is not ready: ${started.output}`, {
      cause: error,
    });
  }
}

/**
 * Rejects if one start fails, but only after all starts have finished, so that a caller can end every
 * process.
 */
export async function allStarted<T>(starting: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

class Ended extends Error {}

/**
 * Repeats the question until the answer is true, first every 20 ms, later after a twentieth of the wait so
 * far. A rejection means no. Rejects after `patience` milliseconds.
 */
export async function until(
  question: () => boolean | Promise<boolean>,
  patience = 60_000,
): Promise<void> {
  const begin = performance.now();
  let last: unknown;
  for (;;) {
    try {
      if (await question()) return;
    } catch (error) {
      if (error instanceof Ended) throw error;
      last = error;
    }
    const waited = performance.now() - begin;
    if (waited > patience) {
      throw new Error(`not within ${patience} ms`, last === undefined ? {} : { cause: last });
    }
    await sleep(Math.max(20, waited / 20));
  }
}
