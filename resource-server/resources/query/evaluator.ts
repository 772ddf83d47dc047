import { type ChildProcess, fork } from 'node:child_process';
import { entryFile, LEAN } from '#shared/base/entry.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { QueryTask } from './evaluate.ts';
import type { EvaluatorReply } from './evaluator-process.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

const FILE = entryFile('resource-server/resources/query/evaluator-process');

/** Megabytes of heap of the process. If it needs more, it ends. */
const HEAP = 256;

/** Limits in milliseconds. */
export const QUERY_LIMITS = {
  start: 30_000,
  /** The time after which the process itself interrupts a query. */
  query: 1000,
  /** The time after which the process is killed, for queries that it cannot interrupt. */
  evaluation: 3000,
};

/** One process for queries, started on first use and replaced when it has ended. */
export class Evaluator {
  readonly #limits: typeof QUERY_LIMITS;
  #child: ChildProcess | undefined;

  constructor(limits = QUERY_LIMITS) {
    this.#limits = limits;
  }

  /** The id of the running process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Evaluates one query at a time. Rejects with `HttpError` 400 and 422. */
  async evaluate(task: QueryTask): Promise<Buffer> {
    const child = this.#child ?? (await this.#start());
    const replied = answerOf(child, this.#limits.evaluation);
    child.send(task, () => undefined); // if the process has just ended, `exit` reports that
    const reply = (await replied) as EvaluatorReply | undefined;
    if (reply === undefined || reply.kind === 'late') {
      throw new HttpError(422, 'The query costs too much time or memory: ask for less.');
    }
    if (reply.kind === 'refused') {
      const { status, detail, reason } = reply;
      throw Object.assign(new HttpError(status, detail), { reason });
    }
    if (reply.kind === 'failed') throw new Error(`a query failed: ${reply.reason}`);
    return Buffer.from(reply.content.buffer, reply.content.byteOffset, reply.content.byteLength);
  }

  async #start(): Promise<ChildProcess> {
    const started = fork(FILE, [String(this.#limits.query)], {
      env: {},
      execArgv: [`--max-old-space-size=${HEAP}`, ...LEAN],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    started.once('exit', () => {
      this.#child = undefined;
    });
    started.unref();
    started.channel?.unref();
    if ((await answerOf(started, this.#limits.start)) === undefined) {
      throw new Error('the process that evaluates queries did not start');
    }
    this.#child = started;
    return started;
  }
}

/**
 * The next message of a process. Resolves to undefined if it ended without one, or was killed because it took too
 * long.
 */
function answerOf(child: ChildProcess, milliseconds: number): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
    const settle = (message?: unknown) => {
      clearTimeout(timer);
      child.removeAllListeners('message').off('exit', gone).off('error', gone);
      resolve(message);
    };
    const gone = () => settle();
    child.once('message', settle).once('exit', gone).once('error', gone);
  });
}
