import { parentPort } from 'node:worker_threads';
import type { Task } from './threads.ts';

/** Functions by name. Arguments are in memory of their own. The first may be secret and is overwritten. */
export type TaskFunctions = Readonly<Record<string, (...args: never[]) => Uint8Array | undefined>>;

/** Runs the tasks in a thread of threads.ts: a task comes in, its result goes out. A defect ends the thread. */
export function serveTasks(functions: TaskFunctions): void {
  parentPort?.on('message', ({ operation, args }: Task) => {
    const run = functions[operation] as (...args: readonly Buffer[]) => Uint8Array | undefined;
    const result = run(...args.map(({ buffer }) => Buffer.from(buffer)));
    args[0]?.fill(0);
    // A Buffer is a part of memory that holds more: only a copy is given away.
    const reply = result && new Uint8Array(result);
    parentPort?.postMessage(reply, reply === undefined ? [] : [reply.buffer]);
  });
}
