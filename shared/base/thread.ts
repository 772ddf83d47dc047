import { parentPort } from 'node:worker_threads';
import { andThen, type Awaitable } from './awaitable.ts';
import type { Task } from './threads.ts';

/** Functions by name. Arguments are in memory of their own. The first may be secret and is overwritten. */
export type TaskFunctions = Readonly<
  Record<string, (...args: never[]) => Awaitable<Uint8Array | undefined>>
>;

/** Runs the tasks in a thread of threads.ts: a task comes in, its result goes out. A defect ends the thread. */
export function serveTasks(functions: TaskFunctions): void {
  parentPort?.on('message', ({ operation, args }: Task) => {
    const run = functions[operation] as (
      ...args: readonly Buffer[]
    ) => Awaitable<Uint8Array | undefined>;
    const reply = (result: Uint8Array | undefined) => {
      args[0]?.fill(0);
      // A Buffer is a part of memory that holds more: only a copy is given away.
      const copy = result && new Uint8Array(result);
      parentPort?.postMessage(copy, copy === undefined ? [] : [copy.buffer]);
    };
    void andThen(run(...args.map(({ buffer }) => Buffer.from(buffer))), reply);
  });
}
