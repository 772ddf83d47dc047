import { parentPort } from 'node:worker_threads';
import { blindEvaluate, deriveKeyPair, evaluate } from './voprf.ts';

type Octets = Uint8Array<ArrayBuffer>;

/** A function of voprf.ts and what it is called with; the memory of that belongs to the thread. */
export type VoprfTask =
  | {
      readonly operation: 'blindEvaluate';
      readonly args: readonly [privateKey: Octets, publicKey: Octets, blinded: Octets];
    }
  | {
      readonly operation: 'evaluate';
      readonly args: readonly [privateKey: Octets, input: Octets];
    }
  | { readonly operation: 'deriveKeyPair'; readonly args: readonly [seed: Octets] };

const FUNCTIONS = { blindEvaluate, evaluate, deriveKeyPair };

/** What a thread of voprf-threads.ts runs: a task in, its result out. A defect ends the thread. */
parentPort?.on('message', (task: VoprfTask) => {
  const run = FUNCTIONS[task.operation] as (...args: readonly Octets[]) => Buffer | undefined;
  const result = run(...task.args);
  task.args[0].fill(0);
  // A Buffer is a part of memory that holds more: only a copy is given away.
  const reply = result && new Uint8Array(result);
  parentPort?.postMessage(reply, reply === undefined ? [] : [reply.buffer]);
});
