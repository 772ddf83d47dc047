import { parentPort } from 'node:worker_threads';
import { andThen, type Awaitable } from './awaitable.ts';
import type { Task } from './threads.ts';

/** Functions by name. Their arguments are copies; the first may be secret and is overwritten. */
export type TaskFunctions = Readonly<
  Record<string, (...args: never[]) => Awaitable<Uint8Array | undefined>>
>;

/** Runs tasks in a thread of threads.ts: it receives a task and sends its result. A defect ends the thread. */
export function serveTasks(functions: TaskFunctions): void {
  parentPort?.on('message', ({ operation, args }: Task) => {
    const run = functions[operation] as (
      ...args: readonly Buffer[]
    ) => Awaitable<Uint8Array | undefined>;
    const reply = (result: Uint8Array | undefined) => {
      args[0]?.fill(0);
      // A Buffer may be a part of larger memory, so only a copy is transferred.
      const copy = result && new Uint8Array(result);
      parentPort?.postMessage(copy, copy === undefined ? [] : [copy.buffer]);
    };
    void andThen(run(...args.map(({ buffer }) => Buffer.from(buffer))), reply);
  });
}
